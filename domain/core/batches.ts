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
