import { type Endpoint, endpoints, schemaOf } from "../../packages/subscriber/document-shapes.ts";

/** The JSON Schemas of the documents of the provider's default endpoints, each in a file of its own. */
export const documentSchemas = endpoints.map((endpoint) => ({
  file: `docs/reference/document-schemas/${endpoint}.json`,
  text: () => `${JSON.stringify(jsonSchema(endpoint), undefined, 2)}\n`,
}));

export function jsonSchema(endpoint: Endpoint): object {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:income-events:document:${endpoint}`,
    ...Object(withNulls(schemaOf(endpoint))),
  };
}

/** What OpenAPI 3.0 calls nullable, JSON Schema writes as a second type. */
function withNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNulls);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, withNulls(value)]);
  const { nullable, ...fields } = Object.fromEntries(entries);
  return nullable === true ? { ...fields, type: [fields.type, "null"] } : fields;
}
