import { present } from "../../../domain/core/parse.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { nameFields } from "../../../domain/message/document-reference.ts";
import { endedBy, isJson } from "../../../domain/message/inline-content.ts";

const text = (description: string) => ({ type: "string", description }) as const;

/** The JSON Schema of a row. */
export const rowSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A document",
  description: "One line of the exported files.",
  type: "object",
  properties: {
    subject: text("Whose the document is, as messages name it: `account/ID` or `company-account/ID`."),
    kind: { enum: ["account", "company-account"] },
    id: text("Of the account or company account."),
    userId: text("Whose the account is; absent where no event has said so."),
    endpoint: text("The provider's endpoint."),
    dateStart: text("The first day, of a document of a range of dates."),
    dateEnd: text("The last day."),
    version: { type: "string", pattern: "^[0-9]+$", description: "The higher number is the newer one." },
    observedAt: { type: "string", format: "date-time", description: "Since when these data are known." },
    sha256: { type: "string", pattern: "^[0-9a-f]{64}$", description: "Of the provider's bytes." },
    size: { type: "integer", minimum: 0, description: "Of the provider's bytes." },
    document: { description: "The data, every digit as the provider wrote it." },
    text: text("The data where they are not JSON, in place of `document`."),
  },
  required: ["subject", "kind", "id", "endpoint", "version", "observedAt", "sha256", "size"],
  oneOf: [{ required: ["document"] }, { required: ["text"] }],
} as const;

/** A document as one line, without its end. @param content the provider's bytes as text */
export function rowOf(document: Document, content: string): string {
  const { subject, userId, announced = 0, digest, size } = document;
  const fields = present({
    subject: nameOf(subject),
    ...subject,
    userId,
    ...nameFields(document),
    version: String(announced),
    observedAt: new Date(announced).toISOString(),
    sha256: digest,
    size,
  });
  // Line ends of JSON lie between its parts, never in a text.
  return isJson(content)
    ? endedBy(fields, "document", content.replace(/[\r\n]+/g, " "))
    : JSON.stringify({ ...fields, text: content });
}
