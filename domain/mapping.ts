import { type EventFacts, type EventType, isEventType, subjectKindOf } from "./events.ts";
import { permanent } from "./failures.ts";
import { parseMoment } from "./moments.ts";
import { fieldsOf, optionalText, present, textOf } from "./parse.ts";

const idFields = ["userId", "accountId", "companyAccountId"] as const;
const textFields = ["datasourceId", "endpoint", "eventId", "dateStart", "dateEnd"] as const;
const otherFields = ["time", "connected", "dataAvailable"] as const;
const mappedFields = [...idFields, ...textFields, ...otherFields];

type MappedField = (typeof mappedFields)[number];

/**
 * How one kind's payloads become events: data, not code. `type` and each field hold a JMESPath expression,
 * `types` translates the provider's event names into ours, `ids` says whether ids must be UUIDs.
 */
export type KindMapping = {
  readonly type: string;
  readonly types: Readonly<Record<string, string>>;
  readonly ids: "uuid" | "any";
} & { readonly [field in MappedField]?: string };

/** Evaluates a JMESPath expression on a JSON value; compiled expressions are the adapter's business. */
export type Search = (expression: string, data: unknown) => unknown;

/** @throws permanent failure naming the field of the settings that is wrong */
export function parseMapping(value: unknown): KindMapping {
  const fields = fieldsOf(value, "mapping");
  const expressions = mappedFields.map((name) => [name, optionalText(fields, name)] as const);
  return {
    ...present(Object.fromEntries(expressions)),
    type: textOf(fields, "type"),
    types: parseTypes(fields.types),
    ids: fields.ids === "any" ? "any" : "uuid",
  };
}

function parseTypes(value: unknown): Record<string, string> {
  const entries = Object.entries(fieldsOf(value, "mapping.types"));
  return Object.fromEntries(entries.map(([name, type]) => [name, typeof type === "string" ? type : ""]));
}

/**
 * Maps a payload to an event's facts.
 * @throws permanent failure with the reason: an unknown event name, a missing subject, an id or time that is
 * none. Reasons name fields and never quote values, for values may be personal data.
 */
export function mapPayload(mapping: KindMapping, payload: unknown, search: Search): EventFacts {
  const at = (field: "type" | MappedField) => {
    const expression = mapping[field];
    return expression === undefined ? undefined : (search(expression, payload) ?? undefined);
  };
  const id = (field: (typeof idFields)[number]) => idAt(field, at(field), mapping.ids);
  const text = (field: (typeof textFields)[number]) => textAt(field, at(field));
  return withSubject(
    present<EventFacts>({
      type: typeOf(mapping, at("type")),
      userId: id("userId"),
      accountId: id("accountId"),
      companyAccountId: id("companyAccountId"),
      datasourceId: text("datasourceId"),
      endpoint: text("endpoint"),
      eventId: text("eventId"),
      dateStart: text("dateStart"),
      dateEnd: text("dateEnd"),
      time: momentAt("time", at("time")),
      connected: booleanAt("connected", at("connected")),
      dataAvailable: booleanAt("dataAvailable", at("dataAvailable")),
    }),
  );
}

function typeOf(mapping: KindMapping, name: unknown): EventType {
  if (typeof name !== "string") throw permanent("type: the payload names no event; see mapping.type");
  const type = Object.hasOwn(mapping.types, name) ? mapping.types[name] : undefined;
  if (!isEventType(type)) throw permanent("type: mapping.types translates no such event name");
  return type;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// Ids and endpoint names become parts of keys: 200 characters of UTF-8 fit a sort key (1,024 bytes) with its prefix.
const longestText = 200;
// SQS refuses the two non-characters in the messages that carry a text on; control characters name nothing.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const refusedCharacters = /[\u0000-\u001F\u007F\uFFFE\uFFFF]/;

/** A short text or a whole number as text; undefined where there is none. @throws permanent failure */
export function textAt(field: string, value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  // A number beyond 2^53 has been rounded: two ids could have become one.
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || text.length > longestText || !isClean(text)) {
    throw permanent(`${field}: expected a short text or a whole number below 2^53`);
  }
  return text;
}

function isClean(text: string): boolean {
  return text.isWellFormed() && !refusedCharacters.test(text);
}

/** An id as events carry it: UUIDs in small letters. @throws permanent failure */
export function idAt(field: string, value: unknown, ids: KindMapping["ids"]): string | undefined {
  const text = textAt(field, value);
  if (text === undefined || ids === "any") return text;
  if (!uuid.test(text)) throw permanent(`${field}: not a UUID; mapping.ids "any" would accept it`);
  return text.toLowerCase();
}

function momentAt(field: string, value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  const moment = typeof value === "string" ? parseMoment(value) : undefined;
  if (moment === undefined) throw permanent(`${field}: not a date-time`);
  return moment;
}

/** @throws permanent failure */
export function booleanAt(field: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "boolean") throw permanent(`${field}: expected true or false`);
  return value;
}

/** An event must say whom it speaks of, or nothing could be done with it. */
function withSubject(facts: EventFacts): EventFacts {
  const missing = missingField(facts);
  if (missing !== undefined) throw permanent(`${missing}: missing in the payload; see mapping.${missing}`);
  return facts;
}

function missingField(facts: EventFacts): MappedField | undefined {
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
