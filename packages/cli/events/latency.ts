import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import { type LogEntry, type LogPlace, selectEntries, stageLogLines } from "../logs/log-entries.ts";
import { idsOf } from "./event-history.ts";

/** Seconds from the receipt of a webhook until its messages are in the subscribers' queues. */
export type Latency = { readonly events: number; readonly p50?: number; readonly p99?: number };

/** The latency of the events that were received since a time (ISO 8601), from the functions' logs. */
export async function latencySince(place: LogPlace, since: string): Promise<Latency> {
  const search = {
    since: new Date(since),
    pattern: fieldPattern("code", ["WEBHOOK_ACCEPTED", "RELAYED"]),
    functions: /(Receive|RelayChanges)Logs/,
  };
  return latencyIn(selectEntries(await stageLogLines(place, search), { since }));
}

/** @param entries in the order of time */
export function latencyIn(entries: readonly LogEntry[]): Latency {
  const received = new Map<string, number>();
  const seconds: number[] = [];
  for (const entry of entries) {
    const at = Date.parse(entry.timestamp);
    for (const id of idsOf(entry)) {
      const from = received.get(id);
      if (entry.code === "WEBHOOK_ACCEPTED") received.set(id, from ?? at);
      else if (entry.code === "RELAYED" && Number(entry.messages) > 0 && from !== undefined) {
        seconds.push((at - from) / 1000);
        received.delete(id);
      }
    }
  }
  const sorted = seconds.toSorted((one, other) => one - other);
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  const [p50, p99] = [rank(0.5), rank(0.99)];
  return { events: sorted.length, ...(p50 !== undefined && p99 !== undefined && { p50, p99 }) };
}
