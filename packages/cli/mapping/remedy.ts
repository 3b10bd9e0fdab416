import type { WebhookKind } from "../../../domain/event/events.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import type { MappingSource } from "../../../domain/event/mapping-source.ts";
import { allFields, type Field, meaningOf } from "./field-names.ts";
import { likelyPlace } from "./likely-place.ts";
import type { ReadSample } from "./sample.ts";

/** What one field's source gave. */
export type FieldTrial = {
  readonly field: Field;
  readonly source: MappingSource;
  readonly gave: unknown;
  /** Why it can't be taken. */
  readonly fault?: string;
};

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
  const elsewhere = likelyPlace(kind, field, sample, mapping[field]);
  if (elsewhere === undefined) return `Set ${setting} to where it is; no place in this sample looks like it.`;
  const header = typeof elsewhere === "string" ? "" : `: the header ${elsewhere.header}`;
  return `Set ${setting} to where it is, perhaps ${JSON.stringify(elsewhere)}${header}.`;
}

function fieldIn(reason: string): Field | undefined {
  const [name] = reason.split(":");
  return allFields.find((field) => field === name);
}
