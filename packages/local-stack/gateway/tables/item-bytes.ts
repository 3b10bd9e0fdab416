import { asObject, type JsonObject } from "../operation.ts";

/**
 * The size of an item in DynamoDB's protocol, in bytes, as reads and writes are billed by it.
 * Source: DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
export function itemBytes(item: JsonObject): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(asObject(value)),
    0,
  );
}

function valueBytes(value: JsonObject): number {
  const [[type, content] = []] = Object.entries(value);
  switch (type) {
    case "S":
      return Buffer.byteLength(String(content));
    case "N":
      return Math.ceil(String(content).replace(/[-.]/g, "").length / 2) + 1;
    case "B":
      return Buffer.byteLength(String(content), "base64");
    case "SS":
    case "NS":
    case "BS":
      return listOf(content).reduce<number>((sum, each) => sum + valueBytes({ [type.slice(0, 1)]: each }), 0);
    // Lists and maps take three bytes, and one for each element.
    case "L":
      return 3 + listOf(content).reduce<number>((sum, each) => sum + 1 + valueBytes(asObject(each)), 0);
    case "M":
      return 3 + itemBytes(asObject(content)) + Object.keys(asObject(content)).length;
    default:
      return 1;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
