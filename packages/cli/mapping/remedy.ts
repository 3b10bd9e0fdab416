import { isFields } from "../../../domain/core/parse.ts";
import { readTime } from "../../../domain/core/timestamps.ts";
import type { WebhookKind } from "../../../domain/event/events.ts";
import { isRawNumber } from "../../../domain/event/lossless-json.ts";
import { ignored, type KindMapping } from "../../../domain/event/mapping.ts";
import { headerText, type MappingSource, mayHoldCredential } from "../../../domain/event/mapping-source.ts";
import { allFields, type Field, meaningOf, nameRank, wordsOf } from "./field-names.ts";
import type { ReadSample } from "./sample.ts";

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
  { kind, mapping }: { readonly kind: WebhookKind; readonly mapping: KindMapping },
  reason: string,
  fields: readonly FieldTrial[],
  sample: ReadSample,
): string {
  if (reason.endsWith("see mapping.events")) {
    const list = listIn(sample.body);
    const place = list === undefined ? "" : `, perhaps ${JSON.stringify(list)}`;
    return `Set mapping.${kind}.events to where the list of events is${place}, and the fields to where they are in one element.`;
  }
  if (reason.startsWith("events:"))
    return `Set mapping.${kind}.events to an expression that finds a list, or leave it out.`;
  const field = fieldIn(reason) ?? fields.find(({ fault }) => fault === reason)?.field;
  if (field === undefined) return `Correct the expressions of mapping.${kind}.`;
  const setting = `mapping.${kind}.${field}`;
  const gave = fields.find((one) => one.field === field)?.gave;
  if (field === "type" && typeof gave === "string") {
    const type = meaningOf(kind, gave);
    const meaning = type === undefined ? "" : `, for example as ${type}`;
    return `Add ${JSON.stringify(gave)} to mapping.${kind}.types${meaning}, or as ${ignored} if nobody wants such events.`;
  }
  if (reason.includes("not a UUID"))
    return `Set mapping.${kind}.ids to "any", or ${setting} to where the UUID is.`;
  const elsewhere = likelyPlace(kind, field, sample, mapping[field]);
  if (elsewhere === undefined)
    return `Set ${setting} to the path of this field; the sample has no similar field.`;
  const header = typeof elsewhere === "string" ? "" : `: the header ${elsewhere.header}`;
  return `Set ${setting} to where it is, perhaps ${JSON.stringify(elsewhere)}${header}.`;
}

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

function fieldIn(reason: string): Field | undefined {
  const [name] = reason.split(":");
  return allFields.find((field) => field === name);
}

/** A single value in a sample, its path, and the words of all names on the path. */
type Place = {
  readonly source: MappingSource;
  readonly words: readonly string[];
  readonly value: string | number | boolean;
};

const deepest = 8;
const maxPlaces = 2_000;
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
// Other names can't be written in an expression, or exist on every object.
const usableName = /^[\p{L}\p{N}_.:@$/ -]{1,100}$/u;

/** The value in a sample whose name and form suit a field best, except the one that the mapping uses. */
function likelyPlace(
  kind: WebhookKind,
  field: Field,
  sample: ReadSample,
  current: MappingSource | undefined,
): MappingSource | undefined {
  const ranked = placesIn(sample)
    .filter(({ source, value }) => fits(field, value) && JSON.stringify(source) !== JSON.stringify(current))
    .map(({ source, words }) => ({ source, rank: nameRank(kind, field, words), depth: words.length }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .toSorted((one, other) => one.rank - other.rank || one.depth - other.depth);
  return ranked[0]?.source;
}

/**
 * All single values of a sample that an expression or a header can select; a list of one counts as its
 * element.
 */
function placesIn({ sample, body }: ReadSample): readonly Place[] {
  const found: Place[] = Object.entries(sample.headers)
    .filter(([name]) => !mayHoldCredential(name))
    .map(([header, value]) => ({
      source: { header },
      words: wordsOf(header),
      value: headerText(header, value),
    }));
  const walk = (value: unknown, expression: string, words: readonly string[], depth: number): void => {
    if (found.length >= maxPlaces || depth > deepest) return;
    if (isRawNumber(value)) walk(value.rawJSON, expression, words, depth);
    else if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      if (expression !== "") found.push({ source: expression, words, value });
    } else if (Array.isArray(value)) {
      if (value.length === 1) walk(value[0], `${expression}[0]`, words, depth + 1);
    } else if (isFields(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (!usableName.test(name) || name in Object.prototype) continue;
        const step = plainName.test(name) ? name : JSON.stringify(name);
        const path = expression === "" ? step : `${expression}.${step}`;
        walk(member, path, [...words, ...wordsOf(name)], depth + 1);
      }
    }
  };
  walk(body, "", [], 0);
  return found;
}

function fits(field: Field, value: Place["value"]): boolean {
  const text = String(value);
  const isTime = readTime(value) !== undefined;
  switch (field) {
    case "time":
      return isTime;
    case "connected":
    case "dataAvailable":
      return text === "true" || text === "false";
    case "dateStart":
    case "dateEnd":
      return /^\d{4}-\d{2}-\d{2}/.test(text);
    case "type":
    case "endpoint":
      return typeof value === "string" && !isTime && /^[\p{L}][\p{L}\p{N}_.:/ -]{0,99}$/u.test(text);
    default:
      return (
        typeof value !== "boolean" &&
        /^[\p{L}\p{N}_.:=+|~ -]{1,200}$/u.test(text) &&
        !/^\d{4}-\d{2}-/.test(text)
      );
  }
}
