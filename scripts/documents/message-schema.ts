import { messageSchema } from "../../domain/message/message-schemas.ts";
import type { MessageType } from "../../domain/message/message-types.ts";

/** A JSON Schema as a file of its own. */
export function schemaFile(type: MessageType): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:income-events:${type}`,
    ...messageSchema(type),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
