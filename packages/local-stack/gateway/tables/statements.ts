import {
  asList,
  asObject,
  asString,
  type JsonObject,
  parseJsonObject,
  UnknownOperationError,
} from "../operation.ts";

/** An attribute value in DynamoDB's JSON, for example `{"S":"text"}`. */
export type WireValue = JsonObject;

/** The parts of a PartiQL statement that permissions and capacity need. */
export type Statement = {
  readonly verb: "Select" | "Insert" | "Update" | "Delete";
  readonly characters: number;
  readonly table: string;
  readonly index: string | undefined;
  /** The item of an INSERT; for other statements, the attributes that WHERE sets equal to a value. */
  readonly attributes: Readonly<Record<string, WireValue>>;
  readonly isConsistentRead: boolean;
};

export const batchAction = "dynamodb:BatchExecuteStatement";
const verbs = { SELECT: "Select", INSERT: "Insert", UPDATE: "Update", DELETE: "Delete" } as const;

export function batchEntries(body: Buffer | string): readonly JsonObject[] {
  return asList(parseJsonObject(body.toString()).Statements).map(asObject);
}

/** @throws UnknownOperationError if the statement's verb or table is not found */
export function parseStatement(entry: JsonObject): Statement {
  const text = asString(entry.Statement);
  const tokens = createTokens(text, asList(entry.Parameters));
  const verb = Object.entries(verbs).find(([word]) => tokens.takes(word))?.[1];
  if (verb === undefined) throw unknownStatement(text);
  if (verb === "Insert") tokens.takes("INTO");
  else if (verb !== "Update") tokens.advancePast("FROM");
  const table = tokens.name();
  if (table === undefined) throw unknownStatement(text);
  const index = tokens.takes(".") ? tokens.name() : undefined;
  return {
    verb,
    characters: text.length,
    table,
    index,
    attributes: verb === "Insert" ? insertedItem(tokens) : equalities(tokens),
    isConsistentRead: entry.ConsistentRead === true,
  };
}

function unknownStatement(text: string): UnknownOperationError {
  return new UnknownOperationError(batchAction, `the statement ${JSON.stringify(text.slice(0, 200))}`);
}

type Tokens = ReturnType<typeof createTokens>;

const tokenPattern = /"(?:[^"]|"")*"|'(?:[^']|'')*'|[A-Za-z_][\w-]*|-?\d[\d.eE+-]*|<>|<=|>=|[^\s]/g;

function createTokens(text: string, parameters: readonly unknown[]) {
  const all = text.match(tokenPattern) ?? [];
  let at = 0;
  let parameter = 0;
  /** Consumes any token; returns false at the end. */
  const advance = (): boolean => {
    if (all[at] === "?") parameter += 1;
    at += 1;
    return at <= all.length;
  };
  /** Consumes the next token if it is this keyword or sign. */
  const takes = (word: string): boolean => all[at]?.toUpperCase() === word && advance();
  const unquoted = (token: string, quote: string): string =>
    token.slice(1, -1).replaceAll(quote + quote, quote);

  /** Consumes the next value, list or map. */
  function value(): WireValue | undefined {
    const token = all[at] ?? "";
    if (token === "?") {
      const given = asObject(parameters[parameter]);
      advance();
      return given;
    }
    if (takes("{")) return { M: members() };
    if (takes("[")) return { L: elements() };
    const literal = literalValue(token);
    if (literal !== undefined) advance();
    return literal;
  }

  function literalValue(token: string): WireValue | undefined {
    if (token.startsWith("'")) return { S: unquoted(token, "'") };
    if (/^-?\d/.test(token)) return { N: token };
    if (/^(true|false)$/i.test(token)) return { BOOL: token.toLowerCase() === "true" };
    return /^null$/i.test(token) ? { NULL: true } : undefined;
  }

  function members(): Record<string, WireValue> {
    const found: [string, WireValue][] = [];
    while (at < all.length && !takes("}")) {
      const key = literalValue(all[at] ?? "")?.S;
      advance();
      if (typeof key === "string" && takes(":")) found.push([key, value() ?? {}]);
      else takes(",");
    }
    return Object.fromEntries(found);
  }

  function elements(): WireValue[] {
    const found: WireValue[] = [];
    while (at < all.length && !takes("]")) {
      const element = value();
      if (element !== undefined) found.push(element);
      else advance();
    }
    return found;
  }

  return {
    takes,
    advance,
    value,
    /** Advances past the next such keyword, or to the end. */
    advancePast: (word: string): void => {
      while (at < all.length && !takes(word)) advance();
    },
    /** Consumes the next token if it is a name. */
    name: (): string | undefined => {
      const token = all[at] ?? "";
      if (!/^["A-Za-z_]/.test(token)) return undefined;
      advance();
      return token.startsWith('"') ? unquoted(token, '"') : token;
    },
  };
}

function insertedItem(tokens: Tokens): Statement["attributes"] {
  tokens.advancePast("VALUE");
  const item = tokens.value();
  return Object.fromEntries(Object.entries(asObject(item?.M)).map(([key, each]) => [key, asObject(each)]));
}

function equalities(tokens: Tokens): Statement["attributes"] {
  const found: [string, WireValue][] = [];
  tokens.advancePast("WHERE");
  let name: string | undefined;
  do {
    const value = name !== undefined && tokens.takes("=") ? tokens.value() : undefined;
    if (name !== undefined && value !== undefined) found.push([name, value]);
    name = tokens.name();
  } while (name !== undefined || tokens.advance());
  return Object.fromEntries(found);
}
