import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { FunctionPlan } from "../assembly/plan.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { LoggedLine, LogPage } from "../gateway/logs/logs.ts";
import { isOfLevel } from "./log-level.ts";

const keptLines = 10_000;
const pageLines = 500;

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
  plan: Pick<FunctionPlan, "name" | "logGroupName" | "jsonLog">,
  gateway: Pick<Gateway, "authorize" | "region" | "account">,
  { directory, onError, onWritten = () => undefined }: LogDestination,
) {
  const kept: LoggedLine[] = [];
  const stream = `arn:aws:logs:${gateway.region}:${gateway.account}:log-group:${plan.logGroupName}:log-stream:local`;
  let allowed: boolean | undefined;
  let bytes = 0;
  let count = 0;
  let file: WriteStream | undefined;
  let last = Date.now();

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
    file = createWriteStream(path);
    file.on("error", (error) => onError(`the log ${path} can't be written: ${error.message}`));
    return file;
  };
  return {
    write: (line: string): void => {
      if (!isAllowed() || (plan.jsonLog && !isOfLevel(line, plan.jsonLog.level))) return;
      last = timeOfLine(line, last);
      kept.push({ at: last, text: line, position: ++count });
      bytes += Buffer.byteLength(line);
      if (kept.length > keptLines) kept.shift();
      onWritten(line);
      open()?.write(`${line}\n`);
    },
    /** Latest lines, oldest first. */
    lines: (): readonly string[] => kept.map(({ text }) => text),
    /**
     * Reads a page of the latest lines.
     * @param after position of the last line that was read before; 0: none
     * @param since milliseconds since 1970
     */
    page: (after: number, since: number): LogPage => {
      const left = kept.filter(({ at, position }) => position > after && at >= since);
      const lines = left.slice(0, pageLines);
      const next = lines.at(-1)?.position;
      return { lines, ...(left.length > lines.length && next !== undefined && { next }) };
    },
    /** Total bytes logged so far, without line ends. */
    bytes: () => bytes,
    close: async (): Promise<void> => {
      if (file === undefined || file.errored) return;
      await new Promise<void>((resolve) => file?.end(resolve));
    },
  };
}

/**
 * Time of a line, in milliseconds since 1970.
 * @param before time of the previous line, used if the line has none
 */
function timeOfLine(line: string, before: number): number {
  const time = Date.parse(/"time(?:stamp)?":"([^"]+)"/.exec(line)?.[1] ?? "");
  return Number.isNaN(time) ? before : time;
}
