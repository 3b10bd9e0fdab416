import type { Answer } from "../../http-server.ts";
import { asObject, asString, type JsonObject, parseJsonObject } from "../operation.ts";
import type { Capacity } from "../types.ts";

export type CapacityBook = ReturnType<typeof createCapacityBook>;

const reads = new Set(["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan"]);

export function createCapacityBook() {
  const counts = new Map<string, Capacity>();
  return {
    /** Adds ReturnConsumedCapacity to a request. */
    asking: (body: string) => JSON.stringify({ ...parseJsonObject(body), ReturnConsumedCapacity: "TOTAL" }),
    /** Reads the consumed capacity from an answer. */
    unitsOf: (action: string, answer: Pick<Answer, "body">): Capacity => {
      const units = consumedUnits(parseJsonObject(answer.body.toString()));
      return reads.has(action) ? { readUnits: units, writeUnits: 0 } : { readUnits: 0, writeUnits: units };
    },
    add: (principal: string, action: string, units: Capacity): void => {
      const key = `${principal} ${action}`;
      const { readUnits, writeUnits } = counts.get(key) ?? { readUnits: 0, writeUnits: 0 };
      counts.set(key, { readUnits: readUnits + units.readUnits, writeUnits: writeUnits + units.writeUnits });
    },
    /** By `<principal's name> <action>`. */
    counts: (): ReadonlyMap<string, Capacity> => counts,
  };
}

/**
 * Sums the consumed capacity: one entry for a table, or a list. A failed condition is billed as a write too,
 * but no engine reports it: counted as one unit, as for an item of up to 1 KB. Source: DynamoDB developer
 * guide, "Working with items".
 */
function consumedUnits({ ConsumedCapacity: consumed, __type: error }: JsonObject): number {
  if (asString(error).endsWith("#ConditionalCheckFailedException")) return 1;
  const entries: readonly unknown[] = Array.isArray(consumed) ? consumed : [consumed];
  return entries.reduce<number>((sum, entry) => sum + Number(asObject(entry).CapacityUnits ?? 0), 0);
}
