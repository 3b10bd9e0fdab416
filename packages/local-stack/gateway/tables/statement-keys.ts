import { asObject, asString, type JsonObject } from "../operation.ts";
import { batchEntries, parseStatement, type Statement, type WireValue } from "./statements.ts";

/** Calls the table's engine by itself; undefined where the engine has no such table. */
export type EngineCall = (operation: string, input: JsonObject) => Promise<JsonObject | undefined>;

export type Item = Readonly<Record<string, WireValue>>;

/** A statement and the item that it is about. */
export type PlacedStatement = {
  readonly statement: Statement;
  /** Undefined where the statement names no whole key: the engine refuses it. */
  readonly key: Item | undefined;
  /** Equal for statements about the same item, and for no others. */
  readonly name: string | undefined;
};

export type StatementKeys = {
  place(body: Buffer): Promise<readonly PlacedStatement[]>;
  /** What a statement about an item would be named by. */
  nameOf(table: string, item: Item): Promise<string | undefined>;
};

/** Finds the keys in statements, by what the engine says of its tables. */
export function createStatementKeys(call: EngineCall): StatementKeys {
  const keyNames = new Map<string, readonly string[]>();

  async function keyNamesOf(table: string): Promise<readonly string[]> {
    const known = keyNames.get(table);
    if (known !== undefined) return known;
    const { KeySchema: schema } = asObject((await call("DescribeTable", { TableName: table }))?.Table);
    const names = (Array.isArray(schema) ? schema : []).map((each) => asString(asObject(each).AttributeName));
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
    place: (body) =>
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
