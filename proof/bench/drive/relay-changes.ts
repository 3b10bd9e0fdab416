import type { StreamRecord } from "@income-events/local-stack/sources/stream-record.ts";
import type { Work } from "./drain-queue.ts";
import { readBatchAnswer } from "./invocations.ts";

/** As the stack's event source is set. */
const batchSize = 100;
const maxAttempts = 20;

/** Hands changes to a function, as the stream's event source does: from the first that failed it begins again. */
export async function relayChanges(records: readonly StreamRecord[], work: Work): Promise<void> {
  for (let start = 0, tries = 0; start < records.length; ) {
    const Records = records.slice(start, start + batchSize);
    const taken = takenOf(Records, await work({ Records }));
    tries = taken > 0 ? 0 : tries + 1;
    if (tries === maxAttempts) throw new Error(`a change was not relayed in ${maxAttempts} tries`);
    start += taken;
  }
}

/** How many of a batch are done: all before the first that failed. */
function takenOf(records: readonly StreamRecord[], answer: unknown): number {
  if (answer === undefined) return 0;
  const { failed } = readBatchAnswer(answer);
  const first = records.findIndex(({ dynamodb }) => failed.includes(dynamodb.SequenceNumber));
  return first < 0 ? records.length : first;
}
