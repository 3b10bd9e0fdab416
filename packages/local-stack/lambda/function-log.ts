import { join } from "node:path";
import type { FunctionPlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/types.ts";
import { createLogFile, type LogFile, type LoggedLine, type LogPage, timeOfLine } from "./log-file.ts";
import { isOfLevel } from "./log-level.ts";

/** How many lines of a function are kept in memory. */
const keptLines = 1000;

export type FunctionLog = {
  write(line: string): void;
  /** The latest lines, oldest first. */
  lines(): readonly string[];
  /** Where to read from for all lines since a time, in milliseconds since 1970. */
  beginOf(since: number): number;
  /** The lines from there on, or some of them: all of the file where there is one, else those in memory. */
  page(from: number): Promise<LogPage>;
  /** Of all lines so far, line ends left out. */
  bytes(): number;
  close(): Promise<void>;
};

export type LogDestination = {
  /** Where `<function>.log` is written again; absent: in memory only. */
  readonly directory?: string | undefined;
  /** Takes what keeps the file from being written, for example a full disk. */
  readonly onError: (message: string) => void;
  /** Sees each line that is in the log group. */
  readonly onWritten?: (line: string) => void;
};

/**
 * The log group of one function. What its role may not write is lost, as in AWS, and stands among the gateway's
 * denials (once for each action, whose answer can't change). Below the function's log level nothing is written.
 */
export function createFunctionLog(
  plan: FunctionPlan,
  gateway: Pick<Gateway, "authorize" | "region" | "account">,
  { directory, onError, onWritten = () => undefined }: LogDestination,
): FunctionLog {
  const kept: LoggedLine[] = [];
  const stream = `arn:aws:logs:${gateway.region}:${gateway.account}:log-group:${plan.logGroupName}:log-stream:local`;
  let allowed: boolean | undefined;
  let bytes = 0;
  let count = 0;
  let file: LogFile | undefined;
  let last = Date.now();

  const isAllowed = (): boolean => {
    allowed ??= ["logs:CreateLogStream", "logs:PutLogEvents"]
      .map((action) => gateway.authorize(plan.name, action, stream).allowed)
      .every(Boolean);
    return allowed;
  };
  const open = (): LogFile | undefined => {
    if (directory !== undefined) file ??= createLogFile(join(directory, `${plan.name}.log`), onError);
    return file;
  };
  return {
    write: (line) => {
      if (!isAllowed() || (plan.jsonLog && !isOfLevel(line, plan.jsonLog.level))) return;
      last = timeOfLine(line, last);
      kept.push({ at: last, text: line, next: ++count });
      bytes += Buffer.byteLength(line);
      if (kept.length > keptLines) kept.shift();
      onWritten(line);
      open()?.write(line);
    },
    lines: () => kept.map(({ text }) => text),
    beginOf: (since) => file?.beginOf(since) ?? 0,
    page: async (from) => file?.page(from) ?? { lines: kept.filter(({ next }) => next > from) },
    bytes: () => bytes,
    close: async () => file?.close(),
  };
}
