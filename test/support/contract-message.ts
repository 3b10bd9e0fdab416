import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Schema } from "../../domain/message/json-schema.ts";
import { type Message, messageSchema, messageTypes } from "../../domain/message/message-schemas.ts";
import { readMessage } from "../../packages/subscriber/read-message.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false });
formats.default(ajv);
const schemas = new Map(messageTypes.map((type) => [type, ajv.compile(closed(messageSchema(type)))]));

/** Closes the schema against unnamed fields. Readers use the open one, since fields may be added. */
function closed(schema: Schema): object {
  if (schema.type !== "object") return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => [name, closed(property)]);
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    additionalProperties: schema.additionalProperties ?? false,
  };
}

/**
 * Parses a subscriber's message.
 * @throws if it breaks the contract or has additional fields
 */
export function contractMessage(body: string): Message {
  const read = readMessage(body);
  if (read.type !== "message") throw new Error(`${body} is no message of the contract`);
  const validate = schemas.get(read.message.type);
  if (validate?.(read.message) !== true)
    throw new Error(`${body} breaks the contract: ${ajv.errorsText(validate?.errors)}`);
  return read.message;
}
