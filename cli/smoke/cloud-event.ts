import { permanent } from "../../domain/failures.ts";
import { fieldsOf, parseJson, textOf } from "../../domain/parse.ts";

/** What a run looks at in a subscriber's message. */
export type CloudEvent = { readonly id: string; readonly type: string; readonly subject: string };

/** Reads a message as docs/events.md promises it. @throws permanent failure naming the field */
export function parseCloudEvent(text: string): CloudEvent {
  const fields = fieldsOf(parseJson(text, "the message"), "the message");
  if (fields.specversion !== "1.0") throw permanent("specversion: expected 1.0");
  if (!/^\d{20}$/.test(textOf(fields, "sequence"))) throw permanent("sequence: expected twenty digits");
  if (!textOf(fields, "source").startsWith("/income-events/"))
    throw permanent("source: expected the stage's");
  if (Number.isNaN(Date.parse(textOf(fields, "time")))) throw permanent("time: expected a date-time");
  fieldsOf(fields.data, "data");
  return { id: textOf(fields, "id"), type: textOf(fields, "type"), subject: textOf(fields, "subject") };
}
