import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { FunctionPlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/types.ts";
import { isOfLevel } from "./log-level.ts";

/** How many lines of a function are kept in memory. */
const keptLines = 1000;

export type FunctionLog = {
  write(line: string): void;
  /** The latest lines, oldest first. */
  lines(): readonly string[];
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
  const kept: string[] = [];
  const stream = `arn:aws:logs:${gateway.region}:${gateway.account}:log-group:${plan.logGroupName}:log-stream:local`;
  let allowed: boolean | undefined;
  let bytes = 0;
  let file: WriteStream | undefined;

  const isAllowed = (): boolean => {
    allowed ??= ["logs:CreateLogStream", "logs:PutLogEvents"]
      .map((action) => gateway.authorize(plan.name, action, stream).allowed)
      .every(Boolean);
    return allowed;
  };
  const open = (): WriteStream | undefined => {
    if (directory === undefined || file !== undefined) return file;
    mkdirSync(directory, { recursive: true });
    const path = join(directory, `${plan.name}.log`);
    file = createWriteStream(path, { flags: "w" });
    file.on("error", (error) => onError(`the log ${path} can't be written: ${error.message}`));
    return file;
  };
  return {
    write: (line) => {
      if (!isAllowed() || (plan.jsonLog && !isOfLevel(line, plan.jsonLog.level))) return;
      kept.push(line);
      bytes += Buffer.byteLength(line);
      if (kept.length > keptLines) kept.shift();
      onWritten(line);
      open()?.write(`${line}\n`);
    },
    lines: () => kept,
    bytes: () => bytes,
    close: async () => {
      const opened = file;
      if (opened === undefined || opened.errored) return;
      await new Promise<void>((resolve) => opened.end(resolve));
    },
  };
}
