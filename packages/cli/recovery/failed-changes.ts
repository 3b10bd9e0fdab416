import type { FailedBatch } from "../../../adapters/streams/failed-batches.ts";

/** A batch of changes that the relay gave up on. */
export type GivenUp = { readonly key: string; readonly since?: string };

/** Those whose key has a text in it, a day or a shard for example; at most so many, in the order of their keys. */
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

/** Without reading them: each is an object of up to some megabytes. */
export async function listBatches(batches: AsyncIterable<FailedBatch>): Promise<readonly GivenUp[]> {
  const found: GivenUp[] = [];
  for await (const { key, since } of batches)
    found.push({ key, ...(since && { since: since.toISOString() }) });
  return found;
}

/** @param onRemoved is called with the key of each batch that was removed */
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
