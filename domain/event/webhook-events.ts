import { type Failure, failureOf, permanent } from "../core/failures.ts";
import { present } from "../core/parse.ts";
import { attributesIn } from "./attributes.ts";
import { identifyByEventId, identifyElement } from "./envelope.ts";
import { type EventAttributes, type WebhookKind, withBelievableTime } from "./events.ts";
import { deliveryOf, ignoredName, type KindMapping, mapPayload, type Search, typeNamed } from "./mapping.ts";
import { found, type MappedHeaders } from "./mapping-source.ts";

/** Maximum number of events in one webhook. */
export const mostEvents = 1_000;

/** A webhook as received; `id` is its envelope's id. */
export type Webhook = {
  readonly kind: WebhookKind;
  readonly id: string;
  /** ISO 8601 */
  readonly receivedAt: string;
  readonly headers?: MappedHeaders;
  /** The body is one element of another webhook's list, so it holds exactly one event. */
  readonly isElement?: boolean;
};

export type EventSource = {
  /** The identity derived from the event's bytes. */
  readonly id: string;
  readonly payload: unknown;
  /** The stored text of a list element; absent if the whole webhook is the event. */
  readonly text?: string;
};

export type MappedEvent = Omit<EventSource, "payload"> &
  (
    | {
        readonly facts: EventAttributes;
        /** Names of attributes in the event that were skipped. */
        readonly leftOut?: readonly string[];
      }
    | { readonly ignored: string }
    /** This event can't be mapped. The other events are stored. */
    | { readonly failure: Failure }
  );

/**
 * Splits a webhook into events: the elements of the list that `mapping.events` finds, otherwise the webhook
 * itself.
 * @throws permanent failure for the whole webhook if the value is not a list or the list is too long
 */
export function eventSources(
  { events }: Pick<KindMapping, "events">,
  { id, isElement = false }: Pick<Webhook, "id" | "isElement">,
  payload: unknown,
  search: Search,
): readonly EventSource[] {
  const list = events === undefined || isElement ? undefined : found("events", events, payload, search);
  if (list === undefined) return [{ id, payload }];
  if (!Array.isArray(list)) throw permanent(`events: expected a list, not ${typeNamed(list)}`);
  if (list.length > mostEvents)
    throw permanent(`events: a list of ${list.length}, and one webhook may hold ${mostEvents} events`);
  const numbers = new Map<string, number>();
  return list.map((element: unknown) => {
    const text = JSON.stringify(element);
    const number = (numbers.get(text) ?? 0) + 1;
    numbers.set(text, number);
    return { id: identifyElement(id, text, number), payload: element, text };
  });
}

/** @throws permanent failure if the whole webhook is rejected */
export function mapWebhook(
  mapping: KindMapping,
  webhook: Webhook,
  payload: unknown,
  search: Search,
): readonly MappedEvent[] {
  const factsOfId = new Map<string, string>();
  return eventSources(mapping, webhook, payload, search).map((source) => {
    const mapped = mapSource(mapping, webhook, source, search);
    if (!("facts" in mapped)) return mapped;
    const facts = JSON.stringify(mapped.facts);
    if ((factsOfId.get(mapped.id) ?? facts) !== facts) {
      const reason = "eventId: another event of the same webhook has this one; see mapping.identity";
      return { ...own(source), failure: { type: "permanent", reason } };
    }
    factsOfId.set(mapped.id, facts);
    return mapped;
  });
}

export function mapSource(
  mapping: KindMapping,
  { kind, receivedAt, headers = {} }: Webhook,
  source: EventSource,
  search: Search,
): MappedEvent {
  const { id, payload } = source;
  try {
    const ignored = ignoredName(mapping, deliveryOf(payload, headers), search);
    if (ignored !== undefined) return { ...own(source), ignored };
    const facts = withBelievableTime(mapPayload(mapping, payload, search, headers), receivedAt);
    const { attributes, leftOut } = attributesOf(mapping, facts, payload, search);
    return {
      ...own(source),
      id: identityOf(mapping, kind, facts, id),
      facts: { ...facts, ...present({ attributes }) },
      ...(leftOut.length > 0 && { leftOut }),
    };
  } catch (error) {
    return { ...own(source), failure: failureOf(error) };
  }
}

/** Reads attributes only when a user is created or updated, so that a deletion keeps the last known ones. */
function attributesOf(
  { attributes }: KindMapping,
  { type, userId }: EventAttributes,
  payload: unknown,
  search: Search,
): ReturnType<typeof attributesIn> {
  const isRead = type === "user.created" || type === "user.updated";
  return attributes === undefined || !isRead
    ? { leftOut: [] }
    : attributesIn(attributes, payload, userId, search);
}

function own({ payload: _, ...rest }: EventSource): Omit<EventSource, "payload"> {
  return rest;
}

/** @throws permanent failure if the identity is the event's id and the webhook has none */
function identityOf(
  { identity }: Pick<KindMapping, "identity">,
  kind: WebhookKind,
  { eventId }: EventAttributes,
  id: string,
): string {
  if (identity !== "eventId") return id;
  if (eventId === undefined)
    throw permanent("eventId: missing in the payload, and mapping.identity is eventId; see mapping.eventId");
  return identifyByEventId(kind, eventId);
}
