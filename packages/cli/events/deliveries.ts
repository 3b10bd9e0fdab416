import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Subscriber } from "../../../domain/message/message.ts";
import type { OperatorAct } from "../../../domain/recovery/operator-act.ts";
import { auditTrailOf } from "../core/audited.ts";
import type { Place } from "../core/command.ts";
import { isoTime } from "../core/text.ts";
import { type LogEntry, stageEntries } from "../logs/log-entries.ts";
import { type HistoryRow, historyIn, idsOf, withSubjects } from "./event-history.ts";
import { mayTake } from "./event-steps.ts";

/** A delivery of messages to a subscriber's queue, or an attempt. */
export type Delivery = {
  /** ISO 8601 */
  readonly at: string;
  /**
   * `parked`: the queue refused the messages, and the relay sends them later; `refused`: the queue refused them, and
   * they are dead letters; `unreachable`: the queue still refuses parked messages.
   */
  readonly outcome: "sent" | "parked" | "resent" | "refused" | "unreachable" | "replayed" | "redriven";
  /** Absent if not yet known. An upper bound if the subscriber has a filter. */
  readonly messages?: number;
  /** The events that led to the messages; empty if the logs don't name them. */
  readonly events: readonly Pick<HistoryRow, "id" | "type" | "subject" | "loggedAs">[];
  readonly reason?: string;
};

/** Maximum number of events whose subjects are looked up, newest first. */
const maxNamed = 1_000;

/** A message's event can be stored this long before the message is sent. */
const marginInMs = 15 * 60_000;

/**
 * Deliveries to a subscriber since a time (ISO 8601), newest first, from the functions' logs and the audit
 * trail.
 */
export async function deliveriesTo(
  subscriber: Subscriber,
  place: Place,
  since: string,
): Promise<readonly Delivery[]> {
  const codes = ["EVENT_STORED", "RELAYED", "SUBSCRIBER_PARKED", "SUBSCRIBER_RESENT"];
  const search = {
    since: isoTime(Date.parse(since) - marginInMs),
    pattern: fieldPattern("code", [...codes, "SUBSCRIBER_UNREACHABLE"]),
    functions: /(Store|Relay|Erase)\w*Logs/,
  };
  const [entries, acts] = await Promise.all([
    stageEntries(place, search),
    Array.fromAsync(auditTrailOf(place).list(since)),
  ]);
  const deliveries = [...deliveriesIn(entries, subscriber), ...operatorsDeliveries(acts, subscriber)]
    .filter(({ at }) => at >= since)
    .toSorted((one, other) => (one.at < other.at ? 1 : -1));
  const events = deliveries.flatMap((delivery) => delivery.events).slice(0, maxNamed);
  const named = new Map((await withSubjects(events, place)).map((event) => [event.id, event]));
  return deliveries.map((delivery) => ({
    ...delivery,
    events: delivery.events.map((event) => named.get(event.id) ?? event),
  }));
}

/** @param entries in the order of time */
export function deliveriesIn(entries: readonly LogEntry[], subscriber: Subscriber): readonly Delivery[] {
  const known = new Map(historyIn(entries).map((event) => [event.id, event]));
  const eventOf = (id: string) => {
    const { type, loggedAs } = known.get(id) ?? {};
    return present<Delivery["events"][number]>({ id, type, loggedAs });
  };
  const ofSubscriber = entries.filter((entry) => entry.subscriber === subscriber.name);
  // The relay sends and parks in one invocation.
  const parkedIn = Map.groupBy(
    ofSubscriber.filter(({ code }) => code === "SUBSCRIBER_PARKED"),
    ({ requestId }) => requestId,
  );
  const relayed = entries.flatMap((entry): readonly Delivery[] => {
    if (entry.code !== "RELAYED") return [];
    const parked = parkedIn.get(entry.requestId) ?? [];
    const left = parked.reduce((rest, { count }) => rest - Number(count), Number(entry.messages ?? 0));
    const parkedIds = new Set(parked.flatMap(idsOf));
    const events = idsOf(entry)
      .filter((id) => !parkedIds.has(id))
      .map(eventOf)
      .filter(({ type }) => type === undefined || mayTake(subscriber, type));
    if (left <= 0 || events.length === 0) return [];
    return [{ at: entry.timestamp, outcome: "sent", messages: left, events }];
  });
  const others = ofSubscriber.map((entry): Delivery => {
    const { timestamp: at, count, reason } = entry;
    const outcome = attemptOf(entry);
    return present<Delivery>({
      ...{ at, outcome, events: idsOf(entry).map(eventOf) },
      messages: typeof count === "number" ? count : undefined,
      reason: typeof reason === "string" ? reason : undefined,
    });
  });
  return [...relayed, ...others];
}

function attemptOf({ code, function: name }: LogEntry): Delivery["outcome"] {
  if (code === "SUBSCRIBER_RESENT") return "resent";
  if (code === "SUBSCRIBER_UNREACHABLE") return "unreachable";
  return String(name).startsWith("erase/") ? "refused" : "parked";
}

const deliveringActs: Partial<Record<OperatorAct["act"], Delivery["outcome"]>> = {
  replay: "replayed",
  redrive: "redriven",
};

function operatorsDeliveries(acts: readonly OperatorAct[], { name }: Subscriber): readonly Delivery[] {
  return acts.flatMap(({ at, act, target, outcome, count, who }) => {
    const delivered = deliveringActs[act];
    const isToSubscriber =
      act === "redrive" ? target === `subscriber/${name}` : target.split(", ").includes(name);
    if (delivered === undefined || !isToSubscriber) return [];
    const state =
      outcome === "begun" ? ["in progress or interrupted"] : outcome === "failed" ? ["failed"] : [];
    return [
      present<Delivery>({
        ...{ at, outcome: delivered, events: [], messages: count },
        reason: [`by ${who}`, ...state].join(", "),
      }),
    ];
  });
}
