import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/**
 * The size of an item as DynamoDB bills its storage, in bytes, without the 100 that it adds for its index.
 * Source: DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
export function itemSize(item: Readonly<Record<string, AttributeValue>>): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOf(value),
    0,
  );
}

function sizeOf(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return Math.ceil(value.N.replace(/[-.]/g, "").length / 2) + 1;
  if (value.B !== undefined) return value.B.byteLength;
  // Lists and maps take three bytes, and one for each element.
  if (value.L !== undefined) return 3 + value.L.reduce((sum, each) => sum + 1 + sizeOf(each), 0);
  if (value.M !== undefined) return 3 + itemSize(value.M) + Object.keys(value.M).length;
  return 1;
}
