import { permanent } from "../core/failures.ts";
import { fieldsOf, optionalText, parseTexts, present } from "../core/parse.ts";
import { readTime } from "../core/timestamps.ts";
import type { AttributeExpressions } from "./attributes.ts";
import {
  type EventAttributes,
  endpointName,
  isWebhookEventType,
  parseAttributes,
  subjectKindOf,
  type WebhookEventType,
} from "./events.ts";
import { isClean } from "./json.ts";
import { isRawNumber } from "./lossless-json.ts";
import {
  hasSeveral,
  headersRead,
  type MappedHeaders,
  type MappingSource,
  parseSource,
  type Search,
  takesByPosition,
  valueAt,
} from "./mapping-source.ts";
import { canonicalId, isUuid } from "./subjects.ts";

const idFields = ["userId", "accountId", "companyAccountId"] as const;
const textFields = ["datasourceId", "endpoint", "eventId", "dateStart", "dateEnd"] as const;
const otherFields = ["time", "connected", "dataAvailable", "reason"] as const;
/** The fields that a mapping can find, apart from the event type. */
export const mappedFields = [...idFields, ...textFields, ...otherFields];

export type MappedField = (typeof mappedFields)[number];

/** The value in `types` that marks an event name as ignored. */
export const ignored = "ignore";

/**
 * How to map webhooks of one kind to events. `type` and the fields say where each value is. `types`
 * translates the provider's event names to ours or ignores them. `ids` says whether ids must be UUIDs.
 */
export type KindMapping = {
  readonly type: MappingSource;
  readonly types: Readonly<Record<string, string>>;
  readonly ids: "uuid" | "any";
  /** An expression that finds a webhook's list of events. If it finds nothing, the webhook is one event. */
  readonly events?: string;
  /** What identifies an event: the body's bytes (the default) or its `eventId`. */
  readonly identity?: "body" | "eventId";
  /** The user metadata to include in messages. */
  readonly attributes?: AttributeExpressions;
} & { readonly [field in MappedField]?: MappingSource };

export type { Search } from "./mapping-source.ts";

/** A webhook as the mapping reads it: the parsed body and the mapped headers. */
export type Delivery = {
  readonly body: unknown;
  readonly headers: MappedHeaders;
  /** Whether the body has a list of several elements; precomputed when several fields are read. */
  readonly hasSeveral?: boolean;
};

export function deliveryOf(body: unknown, headers: MappedHeaders = {}): Delivery {
  return { body, headers, hasSeveral: hasSeveral(body) };
}

/** @throws permanent failure naming the invalid setting */
export function parseMapping(value: unknown): KindMapping {
  const fields = fieldsOf(value, "mapping");
  const type = parseSource(fields, "type");
  if (type === undefined) throw permanent("type: expected an expression or a header");
  return {
    ...present(Object.fromEntries(mappedFields.map((name) => [name, parseSource(fields, name)]))),
    type,
    types: parseTypes(fields.types),
    ids: fields.ids === "any" ? "any" : "uuid",
    ...present({ events: optionalText(fields, "events") }),
    ...(fields.identity === undefined
      ? {}
      : { identity: fields.identity === "eventId" ? "eventId" : "body" }),
    ...(fields.attributes === undefined
      ? {}
      : { attributes: parseTexts(fields.attributes, "mapping.attributes") }),
  };
}

function parseTypes(value: unknown): Record<string, string> {
  const entries = Object.entries(fieldsOf(value, "mapping.types"));
  return Object.fromEntries(entries.map(([name, type]) => [name, typeof type === "string" ? type : ""]));
}

/** The headers that a mapping reads. The receiver carries no others. */
export function headersOf(mapping: KindMapping): readonly string[] {
  return headersRead([mapping.type, ...mappedFields.map((name) => mapping[name])]);
}

/**
 * Maps a payload to an event's attributes.
 * @param headers the webhook's mapped headers; see `headersOf`
 * @throws permanent failure: an unknown event name, a missing subject, or an invalid id or time. The reason
 * names fields and value types and may quote the event name. It quotes no other value, which may be personal
 * data.
 */
export function mapPayload(
  mapping: KindMapping,
  payload: unknown,
  search: Search,
  headers: MappedHeaders = {},
): EventAttributes {
  const delivery = deliveryOf(payload, headers);
  const name = foundAt(mapping, "type", delivery, search);
  if (name === undefined && Array.isArray(payload) && payload.length > 0)
    throw permanent("type: the payload names no event, but is a list; see mapping.events");
  const type = typeOf(mapping, name);
  const facts = mappedFields.map(
    (field) => [field, factAt(mapping, field, foundAt(mapping, field, delivery, search))] as const,
  );
  return withSubject(parseAttributes({ ...Object.fromEntries(facts), type }));
}

/** The event name, if the settings ignore it. Reads no other field. */
export function ignoredName(mapping: KindMapping, delivery: Delivery, search: Search): string | undefined {
  const name = foundAt(mapping, "type", delivery, search);
  return typeof name === "string" && mapping.types[name] === ignored ? name : undefined;
}

/**
 * The raw value of a field's source; undefined if there is none.
 * @throws permanent failure, also if the source picks one of several list elements and would drop the others
 */
export function foundAt(
  mapping: KindMapping,
  field: "type" | MappedField,
  delivery: Delivery,
  search: Search,
): unknown {
  const source = mapping[field];
  const valueIn = (body: unknown) => valueAt(field, source, { ...delivery, body }, search);
  const value = valueIn(delivery.body);
  const mayCut = delivery.hasSeveral ?? hasSeveral(delivery.body);
  if (!mayCut || !identifying.has(field) || typeof source !== "string" || !isSingle(value)) return value;
  if (takesByPosition(delivery.body, valueIn))
    throw permanent(
      `${field}: takes one of several elements of a list and drops the others; see mapping.events`,
    );
  return value;
}

/** The fields that distinguish one event from another. */
const identifying: ReadonlySet<string> = new Set(["type", ...idFields, "endpoint", "eventId"]);

/** Lists and objects are rejected later because of their type. */
function isSingle(value: unknown): boolean {
  return typeof value !== "object" || isRawNumber(value);
}

/** Converts a found value to the event's format. @throws permanent failure naming the field */
export function factAt(
  mapping: KindMapping,
  field: MappedField,
  value: unknown,
): string | boolean | undefined {
  switch (field) {
    case "userId":
    case "accountId":
    case "companyAccountId":
      return idAt(field, value, mapping.ids);
    case "time":
      return timestampAt(field, value);
    case "connected":
    case "dataAvailable":
      // A header is always a string.
      return booleanAt(field, typeof mapping[field] === "string" ? value : booleanOf(value));
    case "endpoint":
      return endpointAt(field, value);
    case "reason":
      return reasonAt(value);
    default:
      return textAt(field, value);
  }
}

function booleanOf(value: unknown): unknown {
  if (value === "true") return true;
  return value === "false" ? false : value;
}

/** @throws permanent failure if the payload names no event, or one that `types` does not translate */
export function typeOf(mapping: KindMapping, name: unknown): WebhookEventType {
  if (typeof name !== "string") {
    const instead = name === undefined ? "" : `, but ${typeNamed(name)}`;
    throw permanent(`type: the payload names no event${instead}; see mapping.type`);
  }
  const type = mapping.types[name];
  if (!isWebhookEventType(type))
    throw permanent(`type: mapping.types translates no event name ${shownName(name)}`);
  return type;
}

// Ids and endpoint names are part of keys: 200 UTF-8 characters and a prefix fit a sort key (1,024 bytes).
const longestText = 200;

/** A short text, or the digits of a whole number; undefined if empty. @throws permanent failure */
export function textAt(field: string, value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  const text = digitsOf(value) ?? value;
  if (typeof text !== "string" || text.length > longestText || !isClean(text)) {
    throw permanent(`${field}: expected a short text or a whole number, not ${typeNamed(value)}`);
  }
  return text;
}

/** A reason is only for people to read, so an event with an invalid reason is stored without it. */
function reasonAt(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= longestText && isClean(value) ? value : undefined;
}

function digitsOf(value: unknown): string | undefined {
  if (isRawNumber(value)) return /^-?\d+$/.test(value.rawJSON) ? value.rawJSON : undefined;
  // Any other number beyond 2^53 was calculated and rounded, so two ids could have become one.
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** An id in the form that events use: UUIDs in lower case. @throws permanent failure */
export function idAt(field: string, value: unknown, ids: KindMapping["ids"]): string | undefined {
  const text = textAt(field, value);
  if (text === undefined) return text;
  if (ids === "uuid" && !isUuid(text))
    throw permanent(`${field}: not a UUID; mapping.ids "any" would accept it`);
  return canonicalId(text);
}

function endpointAt(field: string, value: unknown): string | undefined {
  const text = textAt(field, value);
  if (text !== undefined && !endpointName.test(text)) {
    throw permanent(`${field}: expected up to 64 of A-Z, a-z, 0-9, _ and -, the first a letter or digit`);
  }
  return text;
}

function timestampAt(field: string, value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  const read = readTime(isRawNumber(value) ? value.rawJSON : value);
  if (read === undefined) throw permanent(`${field}: expected a date-time, not ${typeNamed(value)}`);
  return read.time;
}

/** @throws permanent failure */
export function booleanAt(field: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "boolean")
    throw permanent(`${field}: expected true or false, not ${typeNamed(value)}`);
  return value;
}

/** The event name for an error message. Free text is not quoted because it may be personal data. */
function shownName(name: string): string {
  return isNameOrDate(name) ? JSON.stringify(name) : "of such a form (free text, not shown)";
}

/** Describes the type of a value without revealing the value. */
export function typeNamed(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRawNumber(value)) return "this number";
  switch (typeof value) {
    case "string":
      return "this text";
    case "number":
      return "this number";
    case "boolean":
      return "true or false";
    default:
      return "an object";
  }
}

/** Rejects an event without a subject, because nothing could process it. */
function withSubject(facts: EventAttributes): EventAttributes {
  const missing = missingField(facts);
  if (missing !== undefined) throw permanent(`${missing}: missing in the payload; see mapping.${missing}`);
  return facts;
}

function missingField(facts: EventAttributes): MappedField | undefined {
  switch (subjectKindOf(facts.type)) {
    case "user":
      return facts.userId === undefined ? "userId" : undefined;
    case "account":
      return facts.accountId === undefined ? "accountId" : undefined;
    case "company-account":
      return facts.companyAccountId === undefined ? "companyAccountId" : undefined;
    case "endpoint":
      if (facts.endpoint === undefined) return "endpoint";
      return facts.accountId === undefined && facts.companyAccountId === undefined ? "accountId" : undefined;
  }
}

/**
 * Whether a value is an identifier, a date or a boolean, and so not personal data such as an address, a
 * sentence or a number.
 */
export function isNameOrDate(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  return typeof value === "string" && (isName(value) || isDate(value));
}

/** Maximum length of a name that is shown. */
const longestName = 128;

/** A name has at most three digits, unlike an id. It may have parts: `connector/status_updated`. */
function isName(text: string): boolean {
  if (text.length > longestName || (text.match(/\d/g) ?? []).length > 3) return false;
  return /^[a-z][\w.-]*(\/[\w.-]+)*$/i.test(text);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?UTC|Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
}

/** CloudWatch charges for each name as a metric, so further names of a kind are counted together. */
const mostNames = 10;

const otherNames = "other";

/** A name that CloudWatch accepts as a dimension value and that fits on one line. */
const countable = /^[!-~][ -~]{0,127}$/;

/**
 * The names under which a kind's ignored events are counted. Their number is limited, whatever webhooks
 * contain.
 */
export function countedNames({ types }: Pick<KindMapping, "types">): readonly string[] {
  const names = Object.keys(types).filter((name) => types[name] === ignored);
  const counted = names.filter((name) => countable.test(name)).slice(0, mostNames);
  return counted.length === names.length ? counted : [...new Set([...counted, otherNames])];
}

export function countedName(mapping: Pick<KindMapping, "types">, name: string): string {
  return countedNames(mapping).includes(name) ? name : otherNames;
}
