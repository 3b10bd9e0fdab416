import { messageSchema, messageTypes } from "../../domain/message/message-schemas.ts";
import { type Endpoint, endpoints, schemaOf } from "../../packages/subscriber/document-shapes.ts";

const draft = { $schema: "https://json-schema.org/draft/2020-12/schema" };

/** JSON Schemas of messages and documents as files, for subscribers in other languages. */
export function jsonSchemas(): ReadonlyMap<string, Uint8Array> {
  const ofMessages = messageTypes.map((type) => {
    const schema = { ...draft, $id: `urn:income-events:${type}`, ...messageSchema(type) };
    return [`messages/${type}`, schema] as const;
  });
  const ofDocuments = endpoints.map((each) => [`documents/${each}`, documentSchema(each)] as const);
  const files = [...ofMessages, ...ofDocuments].map(([name, schema]) => {
    return [`${name}.json`, Buffer.from(`${JSON.stringify(schema, undefined, 2)}\n`)] as const;
  });
  return new Map(files);
}

export function documentSchema(endpoint: Endpoint): object {
  const schema = Object(withNulls(schemaOf(endpoint)));
  return { ...draft, $id: `urn:income-events:document:${endpoint}`, ...schema };
}

/** Converts OpenAPI 3.0's nullable to a second type, as JSON Schema has it. */
function withNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNulls);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, withNulls(value)]);
  const { nullable, ...fields } = Object.fromEntries(entries);
  return nullable === true ? { ...fields, type: [fields.type, "null"] } : fields;
}
