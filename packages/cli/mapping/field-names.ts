import { isWebhookEventType, type WebhookEventType, type WebhookKind } from "../../../domain/event/events.ts";
import { type MappedField, mappedFields } from "../../../domain/event/mapping.ts";

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
