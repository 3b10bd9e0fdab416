import type { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import type { StreamSourcePlan } from "@income-events/local-stack/assembly/plan.ts";
import { type StreamRecord, streamRecord } from "@income-events/local-stack/sources/stream-record.ts";
import { streamReader } from "../../support/stream-reader.ts";
import { failedIn } from "./queues.ts";

/** @returns a function that reads the changes since its last call that the event source would deliver, in order */
export function readChanges(
  client: DynamoDBStreamsClient,
  { streamArn, filters }: StreamSourcePlan,
  region: string,
): () => Promise<readonly StreamRecord[]> {
  const found: StreamRecord[] = [];
  const read = streamReader(client, streamArn, (records) =>
    found.push(...records.map((record) => streamRecord(record, streamArn, region, new Date()))),
  );
  return async () => {
    while ((await read()) > 0);
    return found.splice(0).filter((record) => filters.some((isTaken) => isTaken(record)));
  };
}

/** Batch size of the stack's event source. */
const batchSize = 100;
const maxAttempts = 20;

/** Delivers changes to a function as the stream's event source does, restarting from the first failed one. */
export async function relayChanges(
  records: readonly StreamRecord[],
  work: (event: object) => Promise<unknown>,
): Promise<void> {
  for (let start = 0, tries = 0; start < records.length; ) {
    const Records = records.slice(start, start + batchSize);
    const failed = failedIn(await work({ Records }));
    const first = Records.findIndex(({ dynamodb }) => failed.includes(dynamodb.SequenceNumber));
    const taken = first < 0 ? Records.length : first;
    tries = taken > 0 ? 0 : tries + 1;
    if (tries === maxAttempts) throw new Error(`a change was not relayed in ${maxAttempts} attempts`);
    start += taken;
  }
}
