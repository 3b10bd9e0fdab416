import { appendFileSync } from "node:fs";
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
  /** Digest of the first receipt's content. */
  readonly digest: string;
};

/** A message that a subscriber received; `at` is in milliseconds since 1970. */
export type MessageLine = { readonly subscriber: string; readonly at: number; readonly body: string };

/** Lines of one type, also in a file: a failed run keeps it. */
class Lines<Line extends object> {
  readonly all: Line[] = [];
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  readonly add = (line: Line): void => {
    this.all.push(line);
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  };
}

export type Records = ReturnType<typeof recordsIn>;

/** Records of a run. */
export function recordsIn(directory: string) {
  return {
    sent: new Lines<SentLine>(join(directory, "sent.jsonl")),
    messages: new Lines<MessageLine>(join(directory, "messages.jsonl")),
    changes: new Lines<RecordLine>(join(directory, "records.jsonl")),
  };
}
