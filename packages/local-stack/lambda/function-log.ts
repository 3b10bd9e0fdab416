import { join } from "node:path";
import type { FunctionPlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/types.ts";
import { createLogFile, type LogFile, type LoggedLine, type LogPage, timeOfLine } from "./log-file.ts";
import { isOfLevel } from "./log-level.ts";

const keptLines = 1000;

export type FunctionLog = ReturnType<typeof createFunctionLog>;

export type LogDestination = {
  /** Directory in which `<function>.log` is overwritten; absent: in memory only. */
  readonly directory?: string | undefined;
  /** Called when the file cannot be written, for example when the disk is full. */
  readonly onError: (message: string) => void;
  readonly onWritten?: (line: string) => void;
};

/**
 * Creates the log group of a function. Lines that its role may not write are lost, as in AWS, and recorded as
 * a denial (once per action, since the answer never changes). Lines below the function's log level are
 * dropped.
 */
export function createFunctionLog(
  plan: FunctionPlan,
  gateway: Pick<Gateway, "authorize" | "region" | "account">,
  { directory, onError, onWritten = () => undefined }: LogDestination,
) {
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
    write: (line: string): void => {
      if (!isAllowed() || (plan.jsonLog && !isOfLevel(line, plan.jsonLog.level))) return;
      last = timeOfLine(line, last);
      kept.push({ at: last, text: line, next: ++count });
      bytes += Buffer.byteLength(line);
      if (kept.length > keptLines) kept.shift();
      onWritten(line);
      open()?.write(line);
    },
    /** Latest lines, oldest first. */
    lines: (): readonly string[] => kept.map(({ text }) => text),
    /** Position from which to read all lines since a time in milliseconds since 1970. */
    beginOf: (since: number): number => file?.beginOf(since) ?? 0,
    /** Reads a page of lines from a position: of the file if there is one, else of those in memory. */
    page: async (from: number): Promise<LogPage> =>
      file?.page(from) ?? { lines: kept.filter(({ next }) => next > from) },
    /** Total bytes logged so far, without line ends. */
    bytes: () => bytes,
    close: async (): Promise<void> => file?.close(),
  };
}
