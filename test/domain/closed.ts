import type { Schema } from "../../domain/json-schema.ts";

/** The schema of what we write: nothing that it does not name. Readers take the open one, so that fields may come. */
export function closed(schema: Schema): object {
  if (schema.type !== "object") return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => [name, closed(property)]);
  return { ...schema, properties: Object.fromEntries(properties), additionalProperties: false };
}
