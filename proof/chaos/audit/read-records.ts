import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

const sentLine = z.object({
  kind: z.string(),
  /** The event's identity, of kind and body. */
  id: z.string(),
  /** The provider's ids in it. */
  subjects: z.array(z.string()).readonly(),
  /** What the pipeline answered; absent where nothing was heard. */
  status: z.number().optional(),
  error: z.string().optional(),
});
/** One call of a webhook, as the provider's process recorded it. */
export type SentLine = z.output<typeof sentLine>;

const recordLine = z.object({
  change: z.string(),
  /** Both parts of the item's key. */
  key: z.string(),
  /** The event's identity. */
  id: z.string(),
  /** Of all that the first receipt said. */
  digest: z.string(),
});
/** One change of an event's record, as the observer read it from the table's stream. */
export type RecordLine = z.output<typeof recordLine>;

const messageLine = z.object({ subscriber: z.string(), at: z.number(), body: z.string() });
/** One message that a subscriber received, and when, in milliseconds since 1970. */
export type MessageLine = z.output<typeof messageLine>;

export const readSent = (file: string): readonly SentLine[] => readLines(file, sentLine);
export const readRecords = (file: string): readonly RecordLine[] => readLines(file, recordLine);
export const readMessages = (file: string): readonly MessageLine[] => readLines(file, messageLine);

function readLines<T>(file: string, line: z.ZodType<T>): readonly T[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((text) => text !== "").map((text) => line.parse(JSON.parse(text)));
}
