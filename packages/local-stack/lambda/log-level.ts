import { fieldsOfLine } from "../gateway/operation.ts";

/** Lambda's levels, from the most detailed one on. */
export const logLevels = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Whether a line of a function with JSON logs reaches its log group: a JSON object's own `level` decides, where its
 * `timestamp` is one, too; all else counts as INFO.
 * Source: Lambda developer guide, "Log-level filtering".
 */
export function isOfLevel(line: string, least: LogLevel): boolean {
  return logLevels.indexOf(levelOf(line)) >= logLevels.indexOf(least);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function levelOf(line: string): LogLevel {
  const { level, timestamp } = fieldsOfLine(line);
  if (typeof timestamp !== "string" || !rfc3339.test(timestamp)) return "INFO";
  return logLevels.find((known) => known === String(level).toUpperCase()) ?? "INFO";
}
