import type { Answer } from "../../http-server.ts";
import { errorAnswer } from "../answer.ts";
import { asObject, asString, parseJsonObject } from "../operation.ts";
import type { Capacity } from "../types.ts";
import { itemBytes } from "./item-bytes.ts";
import { createStatementKeys, type EngineCall, type PlacedStatement } from "./statement-keys.ts";
import type { Statement } from "./statements.ts";

/** Runs a batch of statements. @param onUnits takes what it consumes; without it nothing is measured */
export type RunStatements = (
  body: Buffer,
  send: () => Promise<Answer>,
  onUnits: ((units: Capacity) => void) | undefined,
) => Promise<Answer>;

const mostStatements = 25;
const longestStatement = 8_192;

/**
 * Keeps what DynamoDB Local does not: it applies statements before it finds that a later one has the same key, and says
 * of no batch what it consumes. The other engine says nothing of a batch of which every statement failed. So items are
 * read before and after; callers that write one item at the same time may be measured by each other's.
 * Source: DynamoDB developer guide, "DynamoDB read and write operations": a write consumes by the larger of the item
 * before and after, also where its condition fails (an INSERT whose key is there included).
 */
export function createStatementRunner(call: EngineCall): RunStatements {
  const keys = createStatementKeys(call);

  async function sizes(placed: readonly PlacedStatement[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    const tables = Object.groupBy(placed, ({ statement }) => statement.table);
    for (const [table, ofTable = []] of Object.entries(tables)) {
      const Keys = ofTable.flatMap(({ key }) => key ?? []);
      if (Keys.length === 0) continue;
      const answer = await call("BatchGetItem", {
        RequestItems: { [table]: { Keys, ConsistentRead: true } },
      });
      const items: unknown = asObject(answer?.Responses)[table];
      for (const item of Array.isArray(items) ? items.map(asObject) : []) {
        const wire = Object.fromEntries(Object.entries(item).map(([name, value]) => [name, asObject(value)]));
        const name = await keys.nameOf(table, wire);
        if (name !== undefined) found.set(name, itemBytes(item));
      }
    }
    return found;
  }

  return async (body, send, onUnits) => {
    const placed = await keys.place(body);
    const refusal = reasonToRefuse(placed);
    if (refusal !== undefined) {
      return errorAnswer("dynamodb", { status: 400, errorType: "ValidationException", message: refusal });
    }
    if (onUnits === undefined) return send();
    const before = await sizes(placed);
    const answer = await send();
    if (answer.status !== 200) return answer;
    const after = await sizes(placed);
    const { Responses: responses } = parseJsonObject(answer.body.toString());
    const units = placed.map(({ statement, name = "" }, place) => {
      const error = asString(asObject(asObject(Array.isArray(responses) ? responses[place] : {}).Error).Code);
      const bytes = Math.max(before.get(name) ?? 0, after.get(name) ?? 0, attemptedBytes(statement));
      return billed.has(error) ? unitsOf(statement, bytes) : { readUnits: 0, writeUnits: 0 };
    });
    onUnits({
      readUnits: units.reduce((sum, each) => sum + each.readUnits, 0),
      writeUnits: units.reduce((sum, each) => sum + each.writeUnits, 0),
    });
    return answer;
  };
}

/** Source: DynamoDB API reference, "BatchExecuteStatement", "BatchStatementRequest"; the wording is DynamoDB's. */
function reasonToRefuse(placed: readonly PlacedStatement[]): string | undefined {
  if (placed.length > mostStatements) return tooLong("statements", mostStatements);
  const long = placed.findIndex(({ statement }) => statement.characters > longestStatement);
  if (long >= 0) return tooLong(`statements.${long + 1}.member.statement`, longestStatement);
  const reads = placed.filter(({ statement }) => statement.verb === "Select");
  if (reads.length > 0 && reads.length < placed.length) {
    return "Read and write requests together in the same batch is not supported.";
  }
  const names = placed.flatMap(({ name }) => name ?? []);
  return new Set(names).size < names.length ? "Provided list of item keys contains duplicates" : undefined;
}

function tooLong(name: string, most: number): string {
  return (
    `1 validation error detected: Value at '${name}' failed to satisfy constraint: ` +
    `Member must have length less than or equal to ${most}`
  );
}

/** No error, or a condition that failed. */
const billed = new Set(["", "ConditionalCheckFailed", "DuplicateItem"]);

function attemptedBytes({ verb, attributes }: Statement): number {
  return verb === "Insert" ? itemBytes(attributes) : 0;
}

function unitsOf({ verb, isConsistentRead }: Statement, bytes: number): Capacity {
  if (verb !== "Select") return { readUnits: 0, writeUnits: Math.max(1, Math.ceil(bytes / 1024)) };
  const units = Math.max(1, Math.ceil(bytes / 4096));
  return { readUnits: isConsistentRead ? units : units / 2, writeUnits: 0 };
}
