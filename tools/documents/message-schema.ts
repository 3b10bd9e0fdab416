import type { ObjectSchema } from "../../domain/message/json-schema.ts";
import { attributes, contract } from "../../domain/message/message-schemas.ts";
import type { MessageType } from "../../domain/message/message-types.ts";

/** All types of messages, in the order of the contract. */
export const messageTypes = typesOf(contract);

function typesOf<T extends object>(types: T): readonly Extract<keyof T, string>[] {
  const isType = (name: string): name is Extract<keyof T, string> => name in types;
  return Object.keys(types).filter(isType);
}

/** The schema of a whole message of a type, attributes and data. */
export function messageSchema(type: MessageType) {
  const { data, sentWhen } = contract[type];
  return {
    title: type,
    description: sentWhen,
    type: "object",
    properties: {
      ...attributes.properties,
      type: { type: "string", const: type, description: "What happened." },
      data,
    },
    required: [...attributes.required, "type", "data"],
  } as const satisfies ObjectSchema & { title: string; description: string };
}

/** A JSON Schema as a file of its own. */
export function schemaFile(type: MessageType): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:income-events:${type}`,
    ...messageSchema(type),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
