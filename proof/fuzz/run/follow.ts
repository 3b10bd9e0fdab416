import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { z } from "zod";
import type { Report } from "./watch.ts";

/** What a process that fuzzes had reported when it ended. */
export type Reports = {
  readonly inputs: number;
  /** The most that it ever had. */
  readonly residentBytes: number;
  /** From a tenth of the inputs to their end; 0 where it did not come so far. */
  readonly growthBytes: number;
  /** It reported nothing for so long that it was ended. */
  readonly isSilent: boolean;
};

/** The fuzzer notices an input that hangs by itself and writes it down; this is for when even that hangs. */
const graceSeconds = 60;
/** Until its first input a process instruments code, which takes minutes on a busy machine. */
const startSeconds = 900;
const keptLines = 40;

const parsed = z.object({
  inputs: z.number(),
  residentBytes: z.number(),
  heapBytes: z.number().exactOptional(),
});

/** Reads reports until their channel ends. @param kill ends a process that has fallen silent */
export async function readReports(
  channel: unknown,
  {
    secondsPerInput,
    onProgress,
  }: { readonly secondsPerInput: number; readonly onProgress: (report: Report) => void },
  kill: () => void,
): Promise<Reports> {
  if (!(channel instanceof Readable)) throw new Error("the process that fuzzes has no channel for reports");
  const heaps: number[] = [];
  let [inputs, residentBytes, isSilent] = [0, 0, false];
  const end = () => {
    isSilent = true;
    kill();
  };
  let timer = setTimeout(end, startSeconds * 1000);
  for await (const line of createInterface({ input: channel })) {
    clearTimeout(timer);
    timer = setTimeout(end, (graceSeconds + secondsPerInput) * 1000);
    const report = parsed.parse(JSON.parse(line));
    inputs = report.inputs;
    residentBytes = Math.max(residentBytes, report.residentBytes);
    if (report.heapBytes !== undefined) heaps.push(report.heapBytes);
    onProgress(report);
  }
  clearTimeout(timer);
  const [warm = 0, after = warm] = heaps;
  return { inputs, residentBytes, growthBytes: after - warm, isSilent };
}

/** The last lines of a stream, without the fuzzer's own news of its search. */
export async function lastLines(stream: Readable | null): Promise<string> {
  const lines: string[] = [];
  if (stream === null) return "";
  for await (const line of createInterface({ input: stream })) {
    if (/^#\d+\s/.test(line)) continue;
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
  }
  return lines.join("\n");
}
