import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import { type LogEntry, type LogPlace, selectEntries, stageLogLines } from "../logs/log-entries.ts";

/** Webhooks refused for one reason from one address. Times are ISO 8601. */
export type Refusal = {
  readonly kind: string;
  readonly reason: string;
  readonly source: string;
  readonly count: number;
  readonly first: string;
  readonly last: string;
};

/** Refused webhooks since a time, the latest first. */
export async function refusals(place: LogPlace, since: string): Promise<readonly Refusal[]> {
  const search = {
    since: new Date(since),
    pattern: fieldPattern("code", ["WEBHOOK_REFUSED"]),
    functions: /ReceiveLogs/,
  };
  return refusalsIn(selectEntries(await stageLogLines(place, search), { since }));
}

/** @param entries in the order of time */
export function refusalsIn(entries: readonly LogEntry[]): readonly Refusal[] {
  const found = new Map<string, Refusal>();
  for (const { timestamp, code, kind, reason, source = "" } of entries) {
    if (code !== "WEBHOOK_REFUSED") continue;
    const key = JSON.stringify([kind, reason, source]);
    const { count, first } = found.get(key) ?? { count: 0, first: timestamp };
    found.set(key, {
      ...{ kind: String(kind), reason: String(reason), source: String(source) },
      ...{ count: count + 1, first, last: timestamp },
    });
  }
  return [...found.values()].toSorted((one, other) => (one.last < other.last ? 1 : -1));
}
