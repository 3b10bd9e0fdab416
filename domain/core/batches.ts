/**
 * Splits items into as few batches as the limits allow, in order. `maxBytes` limits all items of a batch together; a
 * larger item becomes a batch of its own.
 */
export function batchesOf<T>(
  items: readonly T[],
  {
    maxItems,
    maxBytes = Number.POSITIVE_INFINITY,
    bytesOf = () => 0,
  }: { readonly maxItems: number; readonly maxBytes?: number; readonly bytesOf?: (item: T) => number },
): readonly (readonly T[])[] {
  const batches: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    const last = batches.at(-1);
    if (last === undefined || last.length === maxItems || bytes + size > maxBytes) {
      batches.push([item]);
      bytes = size;
    } else {
      last.push(item);
      bytes += size;
    }
  }
  return batches;
}

/**
 * Splits items into rounds with at most one item per key: the first item of a key is in the first round, its
 * second in the second. A batch of statements may contain each key once, and versions of a record must be
 * written in order.
 */
export function roundsOf<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly T[])[] {
  const counts = new Map<string, number>();
  const rounds: T[][] = [];
  for (const item of items) {
    const key = keyOf(item);
    const round = counts.get(key) ?? 0;
    counts.set(key, round + 1);
    const list = rounds[round];
    if (list === undefined) rounds.push([item]);
    else list.push(item);
  }
  return rounds;
}

/** Runs async functions one at a time, in the order of the calls. Each is passed whether it had to wait. */
export function mutex() {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  return <Result>(work: (hasWaited: boolean) => Promise<Result>): Promise<Result> => {
    const hasWaited = unfinished > 0;
    unfinished += 1;
    const result = last
      .then(() => work(hasWaited))
      .finally(() => {
        unfinished -= 1;
      });
    last = result.catch(() => undefined);
    return result;
  };
}
