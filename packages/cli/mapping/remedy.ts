import { isFields } from "../../../domain/core/parse.ts";
import { subjectKindOf, type WebhookKind, webhookEventTypes } from "../../../domain/event/events.ts";
import { ignored, type MappedField, mappedFields } from "../../../domain/event/mapping.ts";
import type { MappingSource } from "../../../domain/event/mapping-source.ts";

export type Field = "type" | MappedField;
export const allFields: readonly Field[] = ["type", ...mappedFields];

/** The result of applying a mapping's field to a webhook. */
export type FieldTrial = {
  readonly field: Field;
  readonly source: MappingSource;
  readonly gave: unknown;
  readonly fault?: string;
  /** The recognized form of a time. */
  readonly readAs?: string;
};

/** Advice for a sample that was not mapped. Reasons begin with the field's name. */
export function remedyFor(
  kind: WebhookKind,
  reason: string,
  fields: readonly FieldTrial[],
  body: unknown,
): string {
  if (reason.endsWith("see mapping.events")) {
    const list = listIn(body);
    const place = list === undefined ? "" : `, perhaps ${JSON.stringify(list)}`;
    return `Set mapping.${kind}.events to where the list of events is${place}, and the fields to where they are in one element.`;
  }
  if (reason.startsWith("events:"))
    return `Set mapping.${kind}.events to an expression that finds a list, or leave it out.`;
  const named = allFields.find((each) => each === reason.split(":")[0]);
  const field = named ?? fields.find(({ fault }) => fault === reason)?.field;
  if (field === undefined) return `Correct the expressions of mapping.${kind}.`;
  const setting = `mapping.${kind}.${field}`;
  const gave = fields.find((one) => one.field === field)?.gave;
  if (field === "type" && typeof gave === "string") {
    const types = webhookEventTypes.filter((type) => `${subjectKindOf(type)}s` === kind);
    return `Add ${JSON.stringify(gave)} to mapping.${kind}.types, as one of ${types.join(", ")}, or as ${ignored} if nobody wants such events.`;
  }
  if (reason.includes("not a UUID"))
    return `Set mapping.${kind}.ids to "any", or ${setting} to where the UUID is.`;
  return `Set ${setting} to the path of this field in the body, or to {"header": "…"}.`;
}

/** A name that needs no quotes in an expression. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The path of the first list with several elements. */
function listIn(body: unknown): string | undefined {
  if (Array.isArray(body)) return "@";
  if (!isFields(body)) return undefined;
  for (const [name, member] of Object.entries(body)) {
    if (!plainName.test(name)) continue;
    if (Array.isArray(member) && member.length > 1) return name;
    const inner = isFields(member) ? listIn(member) : undefined;
    if (inner !== undefined) return `${name}.${inner}`;
  }
  return undefined;
}
