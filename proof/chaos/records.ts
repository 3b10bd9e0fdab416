import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A call of a webhook. */
export type SentLine = {
  readonly kind: string;
  /** Identity of the event, from kind and body. */
  readonly id: string;
  /** Provider ids in the body. */
  readonly subjects: readonly string[];
  /** Status of the pipeline's answer; absent if none arrived. */
  readonly status?: number;
  readonly error?: string;
};

/** A change of an event's record, read from the table's stream. */
export type RecordLine = {
  readonly change: string;
  /** Partition and sort key of the item. */
  readonly key: string;
  /** Identity of the event. */
  readonly id: string;
  /** Content of the first receipt. */
  readonly content: unknown;
};

/** A message that a subscriber received; `at` is in milliseconds since 1970. */
export type MessageLine = { readonly subscriber: string; readonly at: number; readonly body: string };

/** Records of a run. */
export type Records = {
  readonly sent: SentLine[];
  readonly messages: MessageLine[];
  readonly records: RecordLine[];
};

/** Writes records to a file each. */
export function writeRecords(directory: string, records: Records): void {
  for (const [name, lines] of Object.entries(records))
    writeFileSync(
      join(directory, `${name}.jsonl`),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
}
