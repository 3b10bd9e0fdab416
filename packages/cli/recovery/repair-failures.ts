import type { RelayRecords } from "../../../adapters/aws/relay-invoker.ts";
import type { FailedBatch } from "../../../adapters/streams/undelivered-changes.ts";
import { failureOf } from "../../../domain/core/failures.ts";

export type RepairedFailures = {
  /** Batches that were relayed completely, and removed. */
  readonly batches: number;
  readonly changes: number;
  /** Keys of batches that remain, because a change could not be relayed or the batch could not be read. */
  readonly kept: readonly { readonly key: string; readonly reason: string }[];
};

/**
 * Relays parked batches. A batch that can't be relayed completely stays, and is relayed again completely the
 * next time.
 */
export async function repairFailures(
  batches: AsyncIterable<FailedBatch>,
  relay: RelayRecords,
  dryRun: boolean,
  onBatch: (batches: number) => void,
): Promise<RepairedFailures> {
  const kept: { key: string; reason: string }[] = [];
  let count = 0;
  let changes = 0;
  for await (const { key, read, remove } of batches) {
    const records = await read().catch((error: unknown) => failureOf(error).reason);
    if (typeof records === "string") {
      kept.push({ key, reason: records });
      continue;
    }
    const [first, ...others] = await relay(records);
    if (first !== undefined) {
      kept.push({ key, reason: `${others.length + 1} of ${records.length} changes: ${first.reason}` });
      continue;
    }
    if (!dryRun) await remove();
    count += 1;
    changes += records.length;
    onBatch(count);
  }
  return { batches: count, changes, kept };
}

export type GivenUp = { readonly key: string; readonly since?: string };

/**
 * Objects whose key contains a text, such as a day or a shard, in the order of their keys, up to a maximum.
 */
export async function* selectBatches(
  batches: AsyncIterable<FailedBatch>,
  { text, limit }: { readonly text: string; readonly limit: number },
): AsyncGenerator<FailedBatch> {
  let count = 0;
  for await (const batch of batches) {
    if (!batch.key.includes(text)) continue;
    if (count === limit) return;
    count += 1;
    yield batch;
  }
}

/** Lists batches without reading them, since each may have some megabytes. */
export async function listBatches(batches: AsyncIterable<FailedBatch>): Promise<readonly GivenUp[]> {
  const found: GivenUp[] = [];
  for await (const { key, since } of batches)
    found.push({ key, ...(since && { since: since.toISOString() }) });
  return found;
}

/** @param onRemoved called with the key of each removed batch */
export async function* tellRemoved(
  batches: AsyncIterable<FailedBatch>,
  onRemoved: (key: string) => void,
): AsyncGenerator<FailedBatch> {
  for await (const batch of batches) {
    const remove = async () => {
      await batch.remove();
      onRemoved(batch.key);
    };
    yield { ...batch, remove };
  }
}
