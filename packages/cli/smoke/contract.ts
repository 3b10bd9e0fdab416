import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { isFields } from "../../../domain/core/parse.ts";
import { type Message, messageSchema, messageTypes } from "../../../domain/message/message-schemas.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false });
formats.default(ajv);
const validators = new Map<unknown, ValidateFunction<Message>>(
  messageTypes.map((type) => [type, ajv.compile<Message>(messageSchema(type))]),
);

/**
 * Reads a message as the schemas promise it to subscribers, by a validator that is not ours.
 * @returns the message, or a problem that names a field and quotes nothing
 */
export function readPromised(text: string): Message | { readonly problem: string } {
  const value = parse(text);
  if (!isFields(value)) return { problem: "the message is no JSON object" };
  const validate = validators.get(value.type);
  if (validate === undefined) return { problem: `${value.type} is no type of a message` };
  if (validate(value)) return value;
  const [error] = validate.errors ?? [];
  return { problem: `${error?.instancePath.slice(1).replaceAll("/", ".")}: ${error?.message}` };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
