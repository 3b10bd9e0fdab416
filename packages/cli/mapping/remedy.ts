import type { WebhookKind } from "../../../domain/event/events.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { candidatesFor, columnsOf } from "./candidates.ts";
import { textOfSource } from "./cover.ts";
import { meaningOf } from "./event-names.ts";
import type { FieldTrial } from "./field-trial.ts";
import { type LearnedField, learnedFields } from "./names.ts";
import type { ReadSample } from "./sample.ts";

/** What to do about a reason for which a sample was not mapped. Reasons begin with the field that they are about. */
export function remedyFor(
  { kind, mapping }: { readonly kind: WebhookKind; readonly mapping: KindMapping },
  reason: string,
  fields: readonly FieldTrial[],
  sample: ReadSample,
): string {
  if (Array.isArray(sample.body) && sample.body.length !== 1) {
    return "The body is a list. One webhook is one event: have the provider send events one by one.";
  }
  const field = fieldIn(reason) ?? fields.find(({ fault }) => fault === reason)?.field;
  if (field === undefined) return `Correct the expressions of mapping.${kind}.`;
  const setting = `mapping.${kind}.${field}`;
  const gave = fields.find((one) => one.field === field)?.gave;
  if (field === "type" && typeof gave === "string") {
    const type = meaningOf(kind, gave);
    return `Add ${JSON.stringify(gave)} to mapping.${kind}.types${type === undefined ? "" : `, for example as ${type}`}.`;
  }
  if (reason.includes("not a UUID"))
    return `Set mapping.${kind}.ids to "any", or ${setting} to where the UUID is.`;
  const current = mapping[field];
  const elsewhere = candidatesFor(kind, field, columnsOf([sample]))
    .map(({ column }) => column.source)
    .find((source) => JSON.stringify(source) !== JSON.stringify(current));
  if (elsewhere === undefined) return `Set ${setting} to where it is; no place in this sample looks like it.`;
  return typeof elsewhere === "string"
    ? `Set ${setting} to where it is, perhaps ${JSON.stringify(elsewhere)}.`
    : `Set ${setting} to where it is, perhaps ${JSON.stringify(elsewhere)}: the ${textOfSource(elsewhere)}.`;
}

function fieldIn(reason: string): LearnedField | undefined {
  const [name] = reason.split(":");
  return learnedFields.find((field) => field === name);
}
