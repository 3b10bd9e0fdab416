export type BatchLimits<T> = {
  readonly maxItems: number;
  /** Of all items of a batch; an item that is larger is a batch of its own. */
  readonly maxBytes?: number;
  readonly bytesOf?: (item: T) => number;
};

/** Splits items, in their order, into as few batches as the limits allow. */
export function batchesOf<T>(
  items: readonly T[],
  { maxItems, maxBytes = Number.POSITIVE_INFINITY, bytesOf = () => 0 }: BatchLimits<T>,
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
 * Splits items into rounds in which each key stands once at most: the first item of a key is in the first round, its
 * second in the second. A batch of statements may hold each key once, and versions of one record follow one another.
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
