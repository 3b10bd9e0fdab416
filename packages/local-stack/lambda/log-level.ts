import { fieldsOfLine } from "../gateway/operation.ts";

/** Lambda's log levels, most detailed first. */
export const logLevels = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Whether a line of a function with JSON logs reaches its log group. The `level` of a JSON object decides if
 * it also has a `timestamp`; all other lines count as INFO.
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
