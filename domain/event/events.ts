import { permanent } from "../core/failures.ts";
import {
  fieldsOf,
  isFields,
  jsonIn,
  optionalBoolean,
  optionalText,
  parseTexts,
  present,
  textOf,
} from "../core/parse.ts";

/** The provider's webhook kinds, in the order of its specification. Routes and queues use the same names. */
export const webhookKinds = ["users", "accounts", "endpoints", "company-accounts"] as const;
export type WebhookKind = (typeof webhookKinds)[number];

/** Event types that a webhook can report. The mapping translates the provider's event names to these. */
export const webhookEventTypes = [
  "user.created",
  "user.updated",
  "user.deleted",
  "account.created",
  "account.updated",
  "account.connected",
  "account.disconnected",
  "account.deleted",
  "endpoint.updated",
  "company-account.created",
  "company-account.updated",
  "company-account.connected",
  "company-account.disconnected",
  "company-account.deleted",
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** All event types. `account.restored` lets an operator undo a deletion that only reconciliation reported. */
export const eventTypes = [...webhookEventTypes, "account.restored"] as const;
export type EventType = (typeof eventTypes)[number];

/** Message types without an event: the provider confirmed a state, or fetched data is new. */
export const answerTypes = [
  "user.confirmed",
  "account.confirmed",
  "company-account.confirmed",
  "data.updated",
] as const;
/** Message types without an event: everything that `readiness` waits for has arrived, or has not in time, or nothing new arrives. */
export const readinessTypes = ["account.ready", "account.incomplete", "user.ready", "account.stale"] as const;
/** Message types that tell readers to erase a subject, too, because all of its stored data was erased. */
export const erasureTypes = ["user.erased", "account.erased", "company-account.erased"] as const;
/** An operator sends `subscriber.test` to test a subscriber. */
export type MessageType =
  | EventType
  | (typeof answerTypes)[number]
  | (typeof readinessTypes)[number]
  | (typeof erasureTypes)[number]
  | "subscriber.test";

/** The fields that the mapping reads from a payload. Ids are the provider's; times are ISO 8601 in UTC. */
export type EventAttributes = ReturnType<typeof parseAttributes>;

/** An event as received: its attributes and the identity derived from its body (see `identify`). */
export type IncomeEvent = ReturnType<typeof parseEvent>;

/** The format of endpoint names, in webhooks and in the settings. */
export const endpointName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/**
 * Whether an event has neither an id nor a time. The same bytes may then be a late retry or a true repeat
 * (connect, disconnect, connect), so the provider must confirm what the event claims.
 */
export function isUnordered(facts: EventAttributes): boolean {
  return facts.eventId === undefined && facts.time === undefined;
}

const earliestTime = Date.UTC(2000);
const clockToleranceMs = 5 * 60_000;

/**
 * Drops an implausible event time: before the year 2000, or more than five minutes after the receipt. A time
 * in the future would make every later event look stale.
 * @param receivedAt ISO 8601
 */
export function withBelievableTime(facts: EventAttributes, receivedAt: string): EventAttributes {
  const { time, ...rest } = facts;
  if (time === undefined) return facts;
  const at = Date.parse(time);
  return at < earliestTime || at > Date.parse(receivedAt) + clockToleranceMs ? rest : facts;
}

/** The kind of subject that an event type concerns: the part of its name before the dot. */
export function subjectKindOf(type: EventType): "user" | "account" | "company-account" | "endpoint" {
  if (type.startsWith("user.")) return "user";
  if (type.startsWith("account.")) return "account";
  return type.startsWith("company-account.") ? "company-account" : "endpoint";
}

export function isWebhookKind(value: unknown): value is WebhookKind {
  return webhookKinds.some((kind) => kind === value);
}

export function isWebhookEventType(value: unknown): value is WebhookEventType {
  return webhookEventTypes.some((type) => type === value);
}

export function isEventType(value: unknown): value is EventType {
  return eventTypes.some((type) => type === value);
}

/** Parses an event that our own code stored. @throws permanent failure naming the field */
export function parseEvent(value: unknown) {
  const fields = fieldsOf(value, "event");
  const { kind } = fields;
  if (!isWebhookKind(kind)) throw permanent("event.kind: expected one of the webhook kinds");
  return {
    ...parseAttributes(fields),
    id: textOf(fields, "id"),
    kind,
    /** When the receiver first saw it, ISO 8601. */
    receivedAt: textOf(fields, "receivedAt"),
    /** Set if no webhook reported the event and reconciliation found it. */
    ...present({ reconciled: fields.reconciled === true ? true : undefined }),
  } as const;
}

/** Parses event attributes that our own code wrote. @throws permanent failure naming the field */
export function parseAttributes(value: unknown) {
  const fields = fieldsOf(value, "event");
  const { type } = fields;
  if (!isEventType(type)) throw permanent("event.type: expected one of the event types");
  return present({
    type,
    userId: optionalText(fields, "userId"),
    accountId: optionalText(fields, "accountId"),
    companyAccountId: optionalText(fields, "companyAccountId"),
    datasourceId: optionalText(fields, "datasourceId"),
    endpoint: optionalText(fields, "endpoint"),
    /** The provider's own event id, if it sends one. A repeated body with an id is always a retry. */
    eventId: optionalText(fields, "eventId"),
    /** When the event occurred. Never the account's `created_at`. */
    time: optionalText(fields, "time"),
    connected: optionalBoolean(fields, "connected"),
    dataAvailable: optionalBoolean(fields, "dataAvailable"),
    dateStart: optionalText(fields, "dateStart"),
    dateEnd: optionalText(fields, "dateEnd"),
    /** Why the account is connected or disconnected, in the provider's words. */
    reason: optionalText(fields, "reason"),
    /** All attributes of the user; absent if the event does not report them. */
    attributes: fields.attributes === undefined ? undefined : parseTexts(fields.attributes, "attributes"),
  });
}

/** Facts about the subject that an event states. */
export function claimOf(event: IncomeEvent): { readonly deleted: boolean; readonly connected?: boolean } {
  switch (event.type) {
    case "account.connected":
    case "company-account.connected":
      return { deleted: false, connected: true };
    case "account.disconnected":
    case "company-account.disconnected":
      return { deleted: false, connected: false };
    case "account.restored":
      return { deleted: false };
    case "user.deleted":
    case "account.deleted":
    case "company-account.deleted":
      return { deleted: true };
    case "account.created":
    case "company-account.created":
      // Creation precedes everything else in an account's life, so "not connected yet" contradicts nothing.
      return event.connected === true ? { deleted: false, connected: true } : { deleted: false };
    case "user.created":
    case "user.updated":
    case "account.updated":
    case "company-account.updated":
    case "endpoint.updated":
      return { deleted: false, ...present({ connected: event.connected }) };
  }
}

/**
 * How an event was processed: `applied`, `agreed` (nothing new), `stale` (older than the stored state), or
 * `unconfirmed` (it contradicts the stored state, no time tells which is newer, and the provider is queried).
 */
export const outcomes = ["applied", "agreed", "stale", "unconfirmed"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * Why a record has its current version. The relay builds messages from this alone. `correlationId` is the id
 * of the cause, see `correlationOf`; absent in records of an earlier release.
 */
export type LastChange =
  | { readonly cause: "event"; readonly event: IncomeEvent; readonly outcome: Outcome }
  /** A repeat of the same bytes, or another change without a message of its own. */
  | { readonly cause: "again"; readonly correlationId?: string }
  /** The provider's answer; `at` is ISO 8601. */
  | { readonly cause: "answer"; readonly at: string; readonly correlationId?: string };

/** @throws permanent failure naming the field */
export function parseLastChange(value: unknown): LastChange {
  const fields = fieldsOf(value, "latest");
  const correlation = present({ correlationId: optionalText(fields, "correlationId") });
  switch (fields.cause) {
    case "event":
      return { cause: "event", event: parseEvent(fields.event), outcome: parseOutcome(fields.outcome) };
    case "again":
      return { cause: "again", ...correlation };
    case "answer":
      return { cause: "answer", at: textOf(fields, "at"), ...correlation };
    default:
      throw permanent("latest.cause: expected event, again or answer");
  }
}

/**
 * The id that links everything with one cause in logs and subscribers' messages: that of the event or
 * reconciliation run that last changed the record.
 */
export function correlationOf(latest: LastChange): string | undefined {
  return latest.cause === "event" ? latest.event.id : latest.correlationId;
}

/** Whether two versions of a record have the same message, or neither has one. */
export function haveSameMessage(one: LastChange, other: LastChange): boolean {
  if (one.cause === "event") return other.cause === "event" && one.event.id === other.event.id;
  return one.cause === other.cause;
}

function parseOutcome(value: unknown): Outcome {
  const outcome = outcomes.find((each) => each === value);
  if (outcome === undefined) throw permanent("latest.outcome: expected a known outcome");
  return outcome;
}

/**
 * Reads the correlation id of a message in the pipeline's own queues: the `correlationId` of a task, or the
 * `id` of an envelope or of an operator's erasure.
 * @returns undefined if there is none or the text is not JSON
 */
export function correlationIdIn(text: string): string | undefined {
  const fields = jsonIn(text);
  if (!isFields(fields)) return undefined;
  return optionalText(fields, "correlationId") ?? optionalText(fields, "id");
}

/** Values that the operator stores with a user at the provider, such as a loan number, by name. */
export type Attributes = Readonly<Record<string, string>>;

/** A synthetic webhook that tests the whole pipeline. It names no user, and the relay sends it only to the canary's own queue. */
const canaryField = "income-events-canary";
const canaryPattern = new RegExp(`^\\{"${canaryField}":"([0-9a-f-]{36})"\\}$`);

/** @param id a UUID */
export function canaryBody(id: string): string {
  return JSON.stringify({ [canaryField]: id });
}

/** The id in a canary's body; undefined for the body of any other webhook. */
export function canaryIn(text: string): string | undefined {
  return canaryPattern.exec(text)?.[1];
}

/** Length of a canary's body in bytes. Bodies of other lengths need no parsing to rule them out. */
export const canaryBytes = canaryBody("0".repeat(36)).length;

/** CloudWatch metrics of the milliseconds since a webhook was received. */
export const latencyMetrics = {
  /** Until the event's message is on its subscribers' queues. */
  toSubscriber: "WebhookToSubscriber",
  /** Until the announced document is stored. */
  toDocument: "WebhookToDocument",
} as const;

/** @param receivedAt when each webhook was received. Both are in milliseconds since 1970, of clocks that may differ */
export function millisecondsSince(receivedAt: readonly number[], now: number): readonly number[] {
  return receivedAt.map((at) => Math.max(0, now - at));
}
