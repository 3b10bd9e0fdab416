import type { WebhookKind } from "../../domain/event/events.ts";
import { isWebhookKind } from "../../domain/event/events.ts";
import type { Operation } from "../core/command.ts";
import { type LogEntry, selectEntries } from "../logs/log-entries.ts";
import { stageLogLines } from "../logs/log-lines.ts";

/** How far an event has come, as the functions' logs say. */
export type HistoryOutcome = "accepted" | "stored" | "again" | "rejected";

/** A webhook that came, by the logs of the functions that had it in hand. */
export type HistoryEvent = {
  readonly id: string;
  /** When it came last, ISO 8601. */
  readonly at: string;
  readonly kind: WebhookKind;
  readonly outcome: HistoryOutcome;
  /** Of what was rejected. */
  readonly reason?: string;
};

/** The codes that say so: nothing else is read, and never the table. */
const outcomeOf: Readonly<Record<string, HistoryOutcome>> = {
  WEBHOOK_ACCEPTED: "accepted",
  EVENT_STORED: "stored",
  EVENT_AGAIN: "again",
  WEBHOOK_UNREADABLE: "rejected",
  MESSAGE_REJECTED: "rejected",
};
const rank: readonly HistoryOutcome[] = ["accepted", "again", "stored", "rejected"];

/** The events that came since a time, the newest first, from the functions' logs. */
export async function eventHistory(
  place: Pick<Operation, "deployment" | "clients">,
  since: string,
): Promise<readonly HistoryEvent[]> {
  // On this machine all lines are read anyway; in AWS each code is a search of its own.
  const texts = place.deployment.local === undefined ? Object.keys(outcomeOf) : [undefined];
  const lines = await Promise.all(texts.map((text) => stageLogLines(place, since, text)));
  return historyIn(selectEntries(lines.flat(), { since }));
}

/** @param entries in the order of time */
export function historyIn(entries: readonly LogEntry[]): readonly HistoryEvent[] {
  const events = new Map<string, HistoryEvent>();
  for (const entry of entries) {
    const outcome = outcomeOf[String(entry.code)];
    const kind = entry.kind ?? String(entry.function).split("/")[1];
    if (outcome === undefined || !isWebhookKind(kind)) continue;
    for (const id of idsOf(entry)) {
      const known = events.get(id);
      const further = known === undefined || rank.indexOf(outcome) >= rank.indexOf(known.outcome);
      const reason = outcome === "rejected" ? String(entry.reason ?? "no JSON") : known?.reason;
      events.set(id, {
        ...{ id, kind, outcome: further ? outcome : known.outcome },
        at: outcome === "accepted" || known === undefined ? entry.timestamp : known.at,
        ...(reason !== undefined && { reason }),
      });
    }
  }
  return [...events.values()].toSorted((one, other) =>
    one.at < other.at ? 1 : Number(one.at > other.at) * -1,
  );
}

function idsOf({ correlationId, correlationIds }: LogEntry): readonly string[] {
  const several: readonly unknown[] = Array.isArray(correlationIds) ? correlationIds : [correlationId];
  return several.filter((id) => typeof id === "string");
}
