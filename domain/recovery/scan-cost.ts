/** What a scan of a table reads, and about what that costs. */
export type ScanCost = {
  readonly items: number;
  readonly bytes: number;
  readonly readUnits: number;
  readonly dollars: number;
};

/** Eventually consistent: half a unit for 4 KB. */
const bytesPerReadUnit = 8_192;
/** On demand, table class Standard, in us-east-1 since November 2024; other regions take up to about half more. */
const dollarsPerMillionReadUnits = 0.125;

/** @param size what is read, whatever is found: a filter spares nothing */
export function scanCost({ items, bytes }: Pick<ScanCost, "items" | "bytes">): ScanCost {
  const readUnits = Math.ceil(bytes / bytesPerReadUnit);
  return { items, bytes, readUnits, dollars: (readUnits * dollarsPerMillionReadUnits) / 1_000_000 };
}
