/** The size and approximate cost of a table scan. */
export type ScanCost = {
  readonly items: number;
  readonly bytes: number;
  readonly readUnits: number;
  readonly dollars: number;
};

/** An eventually consistent read costs half a unit per 4 KB. */
const bytesPerReadUnit = 8_192;
/**
 * On demand, table class Standard, in us-east-1 since November 2024. Other regions cost up to about 50 %
 * more.
 */
const dollarsPerMillionReadUnits = 0.125;

/** @param size size of everything read; a filter does not reduce it */
export function scanCost({ items, bytes }: Pick<ScanCost, "items" | "bytes">): ScanCost {
  const readUnits = Math.ceil(bytes / bytesPerReadUnit);
  return { items, bytes, readUnits, dollars: (readUnits * dollarsPerMillionReadUnits) / 1_000_000 };
}
