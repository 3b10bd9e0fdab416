import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";

export type LoggedLine = { readonly at: number; readonly text: string; readonly next: number };

/** Lines in order; `next` is absent at the end of the log. */
export type LogPage = { readonly lines: readonly LoggedLine[]; readonly next?: number };

export type LogFile = ReturnType<typeof createLogFile>;

const pageBytes = 1024 * 1024;

/** Creates a log in a file, which it overwrites; reads in pages. */
export function createLogFile(path: string, onError: (message: string) => void) {
  mkdirSync(dirname(path), { recursive: true });
  const stream = createWriteStream(path, { flags: "w" });
  stream.on("error", (error) => onError(`the log ${path} can't be written: ${error.message}`));
  const marks: { readonly at: number; readonly offset: number }[] = [];
  let size = 0;
  let last = Date.now();
  return {
    write: (line: string): void => {
      last = timeOfLine(line, last);
      if (size >= marks.length * pageBytes) marks.push({ at: last, offset: size });
      size += Buffer.byteLength(line) + 1;
      stream.write(`${line}\n`);
    },
    /**
     * Position from which to read all lines since a time. Lines of concurrent processes may be slightly out of
     * order: starts one mark earlier.
     */
    beginOf: (since: number): number => marks.filter(({ at }) => at < since).at(-2)?.offset ?? 0,
    page: async (from: number): Promise<LogPage> => {
      const end = size;
      if (from >= end) return { lines: [] };
      await flushed(stream);
      await using file = await open(path);
      const text = await wholeLines(file, from, end);
      const lines = linesOf(text, from, marks.findLast(({ offset }) => offset <= from)?.at ?? last);
      const next = lines.at(-1)?.next ?? end;
      return { lines, ...(next < end && { next }) };
    },
    close: async (): Promise<void> => {
      if (stream.errored) return;
      await new Promise<void>((resolve) => stream.end(resolve));
    },
  };
}

function flushed(stream: WriteStream): Promise<void> {
  if (stream.writableLength === 0 || stream.writableEnded) return Promise.resolve();
  return new Promise((resolve) => stream.write("", () => resolve()));
}

/** Reads about a page of text, up to the end of its last line. */
async function wholeLines(file: FileHandle, from: number, end: number): Promise<string> {
  for (let length = Math.min(pageBytes, end - from); ; length = Math.min(length * 2, end - from)) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
    const whole = buffer.subarray(0, bytesRead).lastIndexOf("\n") + 1;
    if (whole > 0 || length === end - from) return buffer.toString("utf8", 0, whole);
  }
}

function linesOf(text: string, from: number, before: number): readonly LoggedLine[] {
  const lines: LoggedLine[] = [];
  let [at, next] = [before, from];
  for (const line of text.split("\n").slice(0, -1)) {
    at = timeOfLine(line, at);
    next += Buffer.byteLength(line) + 1;
    lines.push({ at, text: line, next });
  }
  return lines;
}

const first = /^\{"timestamp":"([^"]+)"/;

/**
 * Time of a line, in milliseconds since 1970.
 * @param before time of the previous line, used if the line has none
 */
export function timeOfLine(line: string, before: number): number {
  const time = Date.parse(first.exec(line)?.[1] ?? /"time(?:stamp)?":"([^"]+)"/.exec(line)?.[1] ?? "");
  return Number.isNaN(time) ? before : time;
}
