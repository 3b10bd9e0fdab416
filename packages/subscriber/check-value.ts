import { ExactNumber } from "./json.ts";
import type { ListSchema, ObjectSchema, Schema, TextSchema } from "./schema.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Describes how a value violates a schema, by the field's name; undefined if it is valid. */
export function problemOf(schema: Schema, value: unknown, name = ""): string | undefined {
  switch (schema.type) {
    case "string":
      return isAllowed(schema, value) ? undefined : `${name}: expected ${expectedOf(schema)}`;
    case "number":
      return typeof value === "number" || value instanceof ExactNumber
        ? undefined
        : `${name}: expected a number`;
    case "array":
      return Array.isArray(value) ? problemOfItems(schema, value, name) : `${name}: expected a list`;
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

function problemOfItems({ items }: ListSchema, values: readonly unknown[], name: string): string | undefined {
  for (const [index, value] of values.entries()) {
    const problem = problemOf(items, value, `${name}.${index}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfFields(schema: ObjectSchema, value: Fields, name: string): string | undefined {
  const nameOf = (field: string) => (name === "" ? field : `${name}.${field}`);
  const { properties, required, additionalProperties, oneOf } = schema;
  const missing = required.find((field) => !Object.hasOwn(value, field));
  if (missing !== undefined) return `${nameOf(missing)}: is missing`;
  const choices = oneOf?.map(({ required: [field] }) => field) ?? [];
  if (choices.length > 0 && choices.filter((field) => Object.hasOwn(value, field)).length !== 1) {
    return `${nameOf(choices.join(", "))}: expected one of these`;
  }
  for (const field of Object.keys(value)) {
    const property = Object.hasOwn(properties, field) ? properties[field] : additionalProperties;
    const problem = property && problemOf(property, value[field], nameOf(field));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function isAllowed(
  { minLength = 0, enum: values, const: only, pattern, format, nullable }: TextSchema,
  value: unknown,
) {
  if (value === null) return nullable === true;
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
