import type { Answer } from "../../http-server.ts";
import { errorAnswer } from "../answer.ts";
import { asList, asObject, asString, type JsonObject, parseJsonObject } from "../operation.ts";
import type { Capacity } from "../types.ts";
import { batchEntries, parseStatement, type Statement, type WireValue } from "./statements.ts";

export type RunStatements = ReturnType<typeof createStatementRunner>;

const mostStatements = 25;
const longestStatement = 8_192;

/**
 * Runs statements as DynamoDB does, beyond the engines: DynamoDB Local applies statements before it refuses a
 * later one with the same key, and reports no capacity for batches; the native engine reports none if every
 * statement fails. Reads items before and after to measure; concurrent writers of an item may distort each
 * other's measurements.
 * Source: DynamoDB developer guide, "DynamoDB read and write operations": a write consumes capacity by the
 * larger of the item before and after, even if its condition fails (including an INSERT of an existing key).
 */
export function createStatementRunner(call: EngineCall) {
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
      for (const item of asList(asObject(answer?.Responses)[table]).map(asObject)) {
        const wire = Object.fromEntries(Object.entries(item).map(([name, value]) => [name, asObject(value)]));
        const name = await keys.nameOf(table, wire);
        if (name !== undefined) found.set(name, itemBytes(item));
      }
    }
    return found;
  }

  /** @param onUnits receives the consumed capacity; absent: nothing is measured */
  return async (
    body: Buffer,
    send: () => Promise<Answer>,
    onUnits: ((units: Capacity) => void) | undefined,
  ): Promise<Answer> => {
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
      const error = asString(asObject(asObject(asList(responses)[place]).Error).Code);
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

/** Errors of statements that are billed: none, or a failed condition. */
const billed = new Set(["", "ConditionalCheckFailed", "DuplicateItem"]);

function attemptedBytes({ verb, attributes }: Statement): number {
  return verb === "Insert" ? itemBytes(attributes) : 0;
}

function unitsOf({ verb, isConsistentRead }: Statement, bytes: number): Capacity {
  if (verb !== "Select") return { readUnits: 0, writeUnits: Math.max(1, Math.ceil(bytes / 1024)) };
  const units = Math.max(1, Math.ceil(bytes / 4096));
  return { readUnits: isConsistentRead ? units : units / 2, writeUnits: 0 };
}

/**
 * Size of an item in DynamoDB's JSON, in bytes, by which reads and writes are billed.
 * Source: DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
function itemBytes(item: JsonObject): number {
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
      return asList(content).reduce<number>((sum, each) => sum + valueBytes({ [type.slice(0, 1)]: each }), 0);
    // Lists and maps take three bytes plus one per element.
    case "L":
      return 3 + asList(content).reduce<number>((sum, each) => sum + 1 + valueBytes(asObject(each)), 0);
    case "M":
      return 3 + itemBytes(asObject(content)) + Object.keys(asObject(content)).length;
    default:
      return 1;
  }
}

/** Calls the table engine; returns undefined if the table does not exist. */
type EngineCall = (operation: string, input: JsonObject) => Promise<JsonObject | undefined>;

type Item = Readonly<Record<string, WireValue>>;

type PlacedStatement = {
  readonly statement: Statement;
  /** Undefined if the statement does not name the whole key; the engine then refuses it. */
  readonly key: Item | undefined;
  /** Equal only for statements about the same item. */
  readonly name: string | undefined;
};

function createStatementKeys(call: EngineCall) {
  const keyNames = new Map<string, readonly string[]>();

  async function keyNamesOf(table: string): Promise<readonly string[]> {
    const known = keyNames.get(table);
    if (known !== undefined) return known;
    const { KeySchema: schema } = asObject((await call("DescribeTable", { TableName: table }))?.Table);
    const names = asList(schema).map((each) => asString(asObject(each).AttributeName));
    if (names.length > 0) keyNames.set(table, names);
    return names;
  }

  async function keyOf(table: string, item: Item): Promise<Item | undefined> {
    const names = await keyNamesOf(table);
    const key = Object.fromEntries(names.flatMap((name) => (item[name] ? [[name, item[name]]] : [])));
    return names.length > 0 && Object.keys(key).length === names.length ? key : undefined;
  }

  async function nameOf(table: string, item: Item): Promise<string | undefined> {
    const key = await keyOf(table, item);
    return key === undefined ? undefined : JSON.stringify([table, ...Object.values(key)]);
  }

  return {
    nameOf,
    place: (body: Buffer): Promise<readonly PlacedStatement[]> =>
      Promise.all(
        batchEntries(body)
          .map(parseStatement)
          .map(async (statement) => ({
            statement,
            key: await keyOf(statement.table, statement.attributes),
            name: await nameOf(statement.table, statement.attributes),
          })),
      ),
  };
}
