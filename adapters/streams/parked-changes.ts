import type { OverflowBucket } from "../s3/overflow-bucket.ts";
import type { StreamRecord } from "./change-stream.ts";

/** Puts a record aside that the relay can't do, where `repair --failures` finds it. */
export type Park = (record: StreamRecord, reason: string) => Promise<void>;

/**
 * Parked records lie where Lambda puts what it gave up on, in the same form, one an object. The same record parked again
 * replaces it. See `failed-batches.ts`.
 */
export function parkedChanges({ put }: Pick<OverflowBucket, "put">, now: () => Date): Park {
  return async (record, reason) => {
    const id = record.dynamodb?.SequenceNumber ?? "unnumbered";
    const invocation = {
      requestContext: { condition: reason },
      version: "1.0",
      timestamp: now().toISOString(),
      DDBStreamBatchInfo: { startSequenceNumber: id, endSequenceNumber: id, batchSize: 1 },
      payload: JSON.stringify({ Records: [record] }),
    };
    await put(`aws/lambda/parked/${id}`, JSON.stringify(invocation));
  };
}
