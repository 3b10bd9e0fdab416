import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const sentLine = z.object({
  kind: z.string(),
  /** Identity of the event, from kind and body. */
  id: z.string(),
  /** Provider ids in the body. */
  subjects: z.array(z.string()).readonly(),
  /** Status of the pipeline's answer; absent if none arrived. */
  status: z.number().optional(),
  error: z.string().optional(),
});
/** A call of a webhook, recorded by the provider's process. */
export type SentLine = z.output<typeof sentLine>;

const recordLine = z.object({
  change: z.string(),
  /** Partition and sort key of the item. */
  key: z.string(),
  /** Identity of the event. */
  id: z.string(),
  /** Digest of the first receipt's content. */
  digest: z.string(),
});
/** A change of an event's record, read from the table's stream. */
export type RecordLine = z.output<typeof recordLine>;

const messageLine = z.object({ subscriber: z.string(), at: z.number(), body: z.string() });
/** A message that a subscriber received; `at` is in milliseconds since 1970. */
export type MessageLine = z.output<typeof messageLine>;

export const readSent = (file: string): readonly SentLine[] => readLines(file, sentLine);
export const readRecords = (file: string): readonly RecordLine[] => readLines(file, recordLine);
export const readMessages = (file: string): readonly MessageLine[] => readLines(file, messageLine);

function readLines<T>(file: string, line: z.ZodType<T>): readonly T[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((text) => text !== "").map((text) => line.parse(JSON.parse(text)));
}
