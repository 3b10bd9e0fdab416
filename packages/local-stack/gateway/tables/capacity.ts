import type { Answer } from "../answer.ts";
import { asObject, asString, type JsonObject, parseJsonObject } from "../operation.ts";
import type { Capacity } from "../types.ts";

/** Counts the capacity that calls consume, as the engine says it. */
export type CapacityBook = {
  /** The request, asking for what it consumes. */
  readonly asking: (body: string) => string;
  readonly record: (principal: string, action: string, answer: Pick<Answer, "body">) => void;
  /** By `<principal's name> <action>`. */
  readonly counts: () => ReadonlyMap<string, Capacity>;
};

const reads = new Set(["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan"]);

export function createCapacityBook(): CapacityBook {
  const counts = new Map<string, Capacity>();
  return {
    asking: (body) => JSON.stringify({ ...parseJsonObject(body), ReturnConsumedCapacity: "TOTAL" }),
    record: (principal, action, answer) => {
      const units = unitsOf(parseJsonObject(answer.body.toString()));
      const key = `${principal} ${action}`;
      const { readUnits, writeUnits } = counts.get(key) ?? { readUnits: 0, writeUnits: 0 };
      counts.set(
        key,
        reads.has(action)
          ? { readUnits: readUnits + units, writeUnits }
          : { readUnits, writeUnits: writeUnits + units },
      );
    },
    counts: () => counts,
  };
}

/**
 * One entry for a table, a list where a call may name several. A refused condition is billed as a write too, and no
 * engine says how much: one unit, as for an item of up to 1 KB. Source: DynamoDB developer guide, "Working with items".
 */
function unitsOf({ ConsumedCapacity: consumed, __type: error }: JsonObject): number {
  if (asString(error).endsWith("#ConditionalCheckFailedException")) return 1;
  const entries: readonly unknown[] = Array.isArray(consumed) ? consumed : [consumed];
  return entries.reduce<number>((sum, entry) => sum + Number(asObject(entry).CapacityUnits ?? 0), 0);
}
