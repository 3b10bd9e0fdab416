import { asObject, asString, type JsonObject, parseJsonObject, UnknownOperationError } from "../operation.ts";

/** An attribute value in DynamoDB's JSON, for example `{"S":"text"}`. */
export type WireValue = JsonObject;

/** The parts of a PartiQL statement that permissions and capacity need. */
export type Statement = {
  readonly verb: "Insert" | "Update";
  readonly characters: number;
  readonly table: string;
  /** The item of an INSERT; of an UPDATE, the attributes that WHERE sets equal to a value. */
  readonly attributes: Readonly<Record<string, WireValue>>;
};

export const batchAction = "dynamodb:BatchExecuteStatement";
const insertion = /^INSERT INTO "([^"]+)" VALUE \{(.+)\}\s*$/s;
const update = /^UPDATE "([^"]+)" SET (.+) WHERE (.+)$/s;

export function batchEntries(body: Buffer | string): readonly JsonObject[] {
  const { Statements: entries } = parseJsonObject(body.toString());
  return Array.isArray(entries) ? entries.map(asObject) : [];
}

/**
 * Parses a statement in which each value is a parameter.
 * @throws UnknownOperationError if it has another form
 */
export function parseStatement(entry: JsonObject): Statement {
  const text = asString(entry.Statement);
  const parameters: readonly unknown[] = Array.isArray(entry.Parameters) ? entry.Parameters : [];
  const characters = text.length;
  const attributesIn = (list: readonly string[], form: RegExp, first: number) =>
    Object.fromEntries(
      list.flatMap((part, index) => {
        const [whole, name] = form.exec(part) ?? [];
        if (whole === undefined) throw unknownStatement(text);
        return name === undefined ? [] : [[name, asObject(parameters[first + index])]];
      }),
    );
  const [, inserted, members = ""] = insertion.exec(text) ?? [];
  if (inserted !== undefined) {
    const attributes = attributesIn(members.split(", "), /^'([^']+)': \?$/, 0);
    return { verb: "Insert", characters, table: inserted, attributes };
  }
  const [, updated, assignment = "", conditions = ""] = update.exec(text) ?? [];
  if (updated === undefined) throw unknownStatement(text);
  // Paths and other operators say nothing about the key.
  const form = /^(?:"([^"]+)" = \?|"[^"]+"(?:\."[^"]+")* (?:=|<>) \?)\s*$/;
  const attributes = attributesIn(conditions.split(" AND "), form, assignment.split("?").length - 1);
  return { verb: "Update", characters, table: updated, attributes };
}

function unknownStatement(text: string): UnknownOperationError {
  return new UnknownOperationError(batchAction, `the statement ${JSON.stringify(text.slice(0, 200))}`);
}
