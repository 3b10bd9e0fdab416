import type { WebhookKind } from "../../../domain/event/events.ts";
import { type MappedField, mappedFields } from "../../../domain/event/mapping.ts";

export type LearnedField = "type" | MappedField;
export const learnedFields: readonly LearnedField[] = ["type", ...mappedFields];

const id = "(id|uuid|guid|key|ref|reference|identifier|number)";
const person = "(user|member|person|worker|employee|customer|client|applicant|consumer|owner)";
const account = "(account|acct|connection|link|linkage|item|enrollment)";
const company = "(company|employer|organization|organisation|business)";
const start = "(start|from|begin|since)";
const end = "(end|to|until|till)";
const period = "(date|period|range|window|coverage)";

/** Names of fields as providers write them, the best first: 3 is a plain name, 1 one that fits several fields. */
const patterns: Readonly<Record<LearnedField, readonly (readonly [pattern: string, points: 1 | 2 | 3])[]>> = {
  type: [
    ["(event|action|webhook|notification|message|trigger) (type|name|kind|action)", 3],
    ["ce type", 3],
    ["(action|event|topic|trigger|verb)", 3],
    ["(type|kind|name|status|reason)", 1],
  ],
  userId: [
    [`${person} ${id}`, 3],
    [person, 2],
  ],
  accountId: [
    [`${account} ${id}`, 3],
    [account, 2],
  ],
  companyAccountId: [
    [`${company} ${account} ${id}`, 3],
    [`(${company}|${account}) ${id}`, 2],
    [`(${company}|${account})`, 1],
  ],
  datasourceId: [
    [
      `(data ?source|platform|institution|integration|connector|payroll provider)( (${id}|name|code|slug))?`,
      3,
    ],
    [`(source|provider|employer|bank)( (${id}|name|code|slug))?`, 2],
  ],
  endpoint: [
    ["(endpoint|data ?set|resource|product|data type|resource type|data kind)( name)?", 3],
    ["(report|section|scope|object|data)", 1],
  ],
  eventId: [
    [`(event|delivery|message|msg|webhook|notification|request|ce) ${id}`, 3],
    ["idempotency key", 3],
    [id, 1],
  ],
  time: [
    ["(occurred|happened|emitted|triggered|fired|event)( (at|on|time|date))", 3],
    ["(ce time|timestamp|ts)", 3],
    ["(created|updated|modified)( (at|on|time|date))?", 1],
    ["(sent|published|delivered)( (at|on|time))", 2],
    ["(time|date|at|when)", 2],
  ],
  connected: [["(is )?(connected|linked|active|online)", 3]],
  dataAvailable: [["((is|has) )?(data )?(available|ready)|has data", 3]],
  dateStart: [
    [`${period} ${start}|${start} date`, 3],
    [start, 2],
  ],
  dateEnd: [
    [`${period} ${end}|${end} date`, 3],
    [end, 2],
  ],
};

const compiled = new Map(
  Object.entries(patterns).map(([field, list]) => [
    field,
    list.map(([pattern, points]) => [new RegExp(`(^| )(${pattern})$`), points] as const),
  ]),
);

/** The field that says whom an event of a kind speaks of. */
export const ownIds = {
  users: "userId",
  accounts: "accountId",
  endpoints: "accountId",
  "company-accounts": "companyAccountId",
} as const satisfies Record<WebhookKind, MappedField>;

/** How well the words on the way to a value name a field: 0 not at all, 3 plainly. */
export function namePoints(kind: WebhookKind, field: LearnedField, words: readonly string[]): number {
  const name = words.join(" ");
  const best = pointsOf(field, name);
  if (best > 0 || field !== ownIds[kind]) return best;
  // A bare id is most likely that of what the webhook is about; so is the subject of a CloudEvent.
  if (/(^| )subject$/.test(name)) return 2;
  return kind !== "endpoints" && new RegExp(`(^| )${id}$`).test(name) && !isNamedElsewhere(field, words)
    ? 1
    : 0;
}

/** Whether words name another field well. */
export function isNamedElsewhere(field: LearnedField, words: readonly string[]): boolean {
  return learnedFields.some((other) => other !== field && pointsOf(other, words.join(" ")) > 1);
}

function pointsOf(field: LearnedField, name: string): number {
  return (compiled.get(field) ?? []).find(([pattern]) => pattern.test(name))?.[1] ?? 0;
}
