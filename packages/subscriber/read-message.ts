import { attributes, checks } from "./checks.ts";
import type { Attributes, Message, MessageType } from "./contract.ts";
import type { ObjectSchema, Schema, TextSchema } from "./schema.ts";

/** A message of a type that this release does not know: a later one sends it. */
export type UnknownMessage = Attributes & { readonly type: string; readonly data?: unknown };

export type ReadMessage =
  | { readonly as: "message"; readonly message: Message }
  | { readonly as: "unknown"; readonly message: UnknownMessage }
  /** The reason names a field and quotes nothing. */
  | { readonly as: "unreadable"; readonly reason: string };

/**
 * Reads the text of a subscriber's message. Fields that are not known stay where they are.
 * @returns `unreadable` for what breaks the contract; never throws
 */
export function readMessage(text: string): ReadMessage {
  const value = parse(text);
  if (!isFields(value)) return { as: "unreadable", reason: "the message is no JSON object" };
  const reason = problemOfMessage(value);
  if (reason !== undefined) return { as: "unreadable", reason };
  if (isMessage(value)) return { as: "message", message: value };
  if (isUnknownMessage(value)) return { as: "unknown", message: value };
  return { as: "unreadable", reason: "type: expected a text" };
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMessage(value: Fields): value is Fields & Message {
  return isMessageType(value.type) && problemOfMessage(value) === undefined;
}

function isUnknownMessage(value: Fields): value is Fields & UnknownMessage {
  const { type } = value;
  return typeof type === "string" && type !== "" && problemOf(attributes, value) === undefined;
}

function isMessageType(type: unknown): type is MessageType {
  return typeof type === "string" && Object.hasOwn(checks, type);
}

function problemOfMessage(value: Fields): string | undefined {
  const problem = problemOf(attributes, value);
  if (problem !== undefined || !isMessageType(value.type)) return problem;
  return problemOf(checks[value.type].data, value.data, "data");
}

/** What a value breaks of a schema, by the field's name. */
function problemOf(schema: Schema, value: unknown, name = ""): string | undefined {
  switch (schema.type) {
    case "string":
      return isAllowed(schema, value) ? undefined : `${name}: expected ${expectedOf(schema)}`;
    case "boolean":
      return value === true || (value === false && schema.const === undefined)
        ? undefined
        : `${name}: expected ${schema.const ?? "true or false"}`;
    case "integer":
      return Number.isSafeInteger(value) && Number(value) >= schema.minimum
        ? undefined
        : `${name}: expected a whole number`;
    case undefined:
      return undefined;
    case "object":
      return isFields(value) ? problemOfFields(schema, value, name) : `${name}: expected an object`;
  }
}

function problemOfFields(schema: ObjectSchema, value: Fields, name: string): string | undefined {
  const nameOf = (field: string) => (name === "" ? field : `${name}.${field}`);
  const { properties, required, oneOf } = schema;
  const missing = required.find((field) => !Object.hasOwn(value, field));
  if (missing !== undefined) return `${nameOf(missing)}: is missing`;
  const choices = oneOf?.map(({ required: [field] }) => field) ?? [];
  if (choices.length > 0 && choices.filter((field) => Object.hasOwn(value, field)).length !== 1) {
    return `${nameOf(choices.join(", "))}: expected one of these`;
  }
  for (const [field, property] of Object.entries(properties)) {
    const problem = Object.hasOwn(value, field)
      ? problemOf(property, value[field], nameOf(field))
      : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function isAllowed(
  { minLength = 0, enum: values, const: only, pattern, format }: TextSchema,
  value: unknown,
) {
  return (
    typeof value === "string" &&
    value.length >= minLength &&
    (values === undefined || values.includes(value)) &&
    (only === undefined || value === only) &&
    (pattern === undefined || new RegExp(pattern, "u").test(value)) &&
    (format === undefined || (dateTime.test(value) && !Number.isNaN(Date.parse(value))))
  );
}

function expectedOf({ enum: values, const: only, pattern, format }: TextSchema): string {
  if (values !== undefined) return `one of ${values.join(", ")}`;
  return only ?? format ?? (pattern === undefined ? "a text" : `a text like ${pattern}`);
}
