import { isFields } from "../../../domain/core/parse.ts";
import { readTime } from "../../../domain/core/timestamps.ts";
import { isWebhookEventType, type WebhookEventType, type WebhookKind } from "../../../domain/event/events.ts";
import { isRawNumber } from "../../../domain/event/lossless-json.ts";
import { ignored, type KindMapping, type MappedField, mappedFields } from "../../../domain/event/mapping.ts";
import { headerText, type MappingSource, mayHoldCredential } from "../../../domain/event/mapping-source.ts";
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

/** The result of applying a mapping to a webhook. */
export type Field = "type" | MappedField;
export const allFields: readonly Field[] = ["type", ...mappedFields];

const id = "(id|uuid|guid|key|ref|reference|identifier|number)";
const person = "(user|member|person|worker|employee|customer|client|applicant|consumer|owner)";
const account = "(account|acct|connection|link|linkage|item|enrollment)";
const company = "(company|employer|organization|organisation|business)";
const start = "(start|from|begin|since)";
const end = "(end|to|until|till)";
const period = "(date|period|range|window|coverage)";
const source = "(data ?source|platform|institution|integration|connector|payroll provider)";

/** Providers' names for a field, the most common first, by their last words. */
const patterns: Readonly<Record<Field, readonly string[]>> = {
  type: [
    "((event|action|webhook|notification|message|trigger|ce) (type|name|kind|action)|action|event|topic|trigger|verb)",
    "(type|kind|name|status|reason)",
  ],
  userId: [`${person} ${id}`, person],
  accountId: [`${account} ${id}`, account],
  companyAccountId: [
    `${company} ${account} ${id}`,
    `(${company}|${account}) ${id}`,
    `(${company}|${account})`,
  ],
  datasourceId: [
    `${source}( (${id}|name|code|slug))?`,
    `(source|provider|employer|bank)( (${id}|name|code|slug))?`,
  ],
  endpoint: [
    "(endpoint|data ?set|resource|product|data type|resource type|data kind)( name)?",
    "(report|section|scope|object|data)",
  ],
  eventId: [`((event|delivery|message|msg|webhook|notification|request|ce) ${id}|idempotency key)`, id],
  time: [
    "((occurred|happened|emitted|triggered|fired|event) (at|on|time|date)|ce time|timestamp|ts)",
    "((sent|published|delivered) (at|on|time)|time|date|at|when)",
  ],
  connected: ["(is )?(connected|linked|active|online)"],
  dataAvailable: ["(((is|has) )?(data )?(available|ready)|has data)"],
  reason: ["((disconnect|connection|status|error) )?(reason|description|message)"],
  dateStart: [`(${period} ${start}|${start} date)`, start],
  dateEnd: [`(${period} ${end}|${end} date)`, end],
};

/** The field with the id of a kind's subject. */
const ownIds: Readonly<Record<WebhookKind, MappedField>> = {
  users: "userId",
  accounts: "accountId",
  endpoints: "accountId",
  "company-accounts": "companyAccountId",
};

/**
 * How well the words of a value's path name a field: 0 is best, infinity means not at all. A CloudEvent's subject and a bare
 * `id` name the webhook's subject.
 */
export function nameRank(kind: WebhookKind, field: Field, words: readonly string[]): number {
  const forms = [...patterns[field], ...(field === ownIds[kind] ? ["subject", id] : [])];
  const rank = forms.findIndex((form) => new RegExp(`(^| )${form}$`).test(words.join(" ")));
  return rank === -1 ? Number.POSITIVE_INFINITY : rank;
}

/** Providers' names for a change, by our names. */
const verbs: Readonly<Record<string, RegExp>> = {
  created: /^(create|add|new|register|open|onboard|signup)(e?d)?$/,
  updated: /^(update|change|modify|modified|edit|refresh|sync)(e?d)?$/,
  connected: /^(connect|link|activate|authorize|reconnect)(e?d)?$/,
  disconnected: /^(disconnect|unlink|revoke|deactivate|expire)(e?d)?$/,
  deleted: /^(delete|remove|destroy|erase|close|purge)(e?d)?$/,
};
/** Names for data rather than for an account. */
const dataVerbs = /^(available|ready|received|posted|fetched|completed|finished|processed|created?)$/;

const subjects = {
  users: "user",
  accounts: "account",
  endpoints: "endpoint",
  "company-accounts": "company-account",
} as const;

/** Possible meanings of an event's name for a kind, by its last verb. */
export function meaningOf(kind: WebhookKind, name: string): WebhookEventType | undefined {
  const found = wordsOf(name).map((word) =>
    kind === "endpoints" && dataVerbs.test(word)
      ? "updated"
      : Object.keys(verbs).find((verb) => verbs[verb]?.test(word)),
  );
  const type = `${subjects[kind]}.${found.findLast((verb) => verb !== undefined)}`;
  return isWebhookEventType(type) ? type : undefined;
}

/**
 * The words of a name in any style, in lower case: `accountId`, `account_id` and `Account-ID` have the same
 * two words.
 */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}
