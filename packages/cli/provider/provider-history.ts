import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import type { Place } from "../core/command.ts";
import { tableText } from "../core/table.ts";
import { oneLine } from "../core/text.ts";
import { type LogEntry, stageEntries } from "../logs/log-entries.ts";
import { outagesIn, outageText } from "./outages.ts";

const topicNames = ["breaker", "token", "reconciliation", "registration"] as const;
type ProviderTopic = (typeof topicNames)[number];
const topics: Readonly<Record<ProviderTopic, readonly string[]>> = {
  breaker: ["PROVIDER_DOWN", "PROVIDER_BACK"],
  token: [
    ...["TOKEN_REFRESHED", "TOKEN_STILL_VALID", "TOKEN_DISCARDED", "TOKEN_OVERTAKEN", "TOKEN_UNCHANGED"],
    ...["TOKEN_SHORT_LIVED", "TOKEN_NEAR_END", "TOKEN_REFUSED", "TOKEN_MISSING"],
  ],
  reconciliation: ["RECONCILED", "RECONCILIATION_FAILED", "RECONCILIATION_PAUSED"],
  registration: ["WEBHOOKS_REGISTERED", "WEBHOOKS_REGISTERED_PREVIOUS", "WEBHOOKS_NOT_REGISTERED"],
};

/** An event between this stage and the provider. */
export type ProviderTurn = {
  readonly at: string;
  readonly topic: ProviderTopic;
  readonly code: string;
  /** The function that did or found it. */
  readonly by: string;
  readonly reason?: string;
  /** The result: `listed`, `missing`, `conflicting` and so on. */
  readonly counts: Readonly<Record<string, number>>;
};

const counted = ["listed", "missing", "conflicting", "orphaned", "deleted", "reread", "skipped"];

/** Log lines about the provider since a time, the newest first. */
export async function providerHistory(place: Place, since: string): Promise<readonly ProviderTurn[]> {
  const search = {
    since,
    pattern: fieldPattern("code", Object.values(topics).flat()),
    functions: /(FetchData|RefreshToken|RegisterWebhooks|ReconcileUsers)Logs/,
  };
  return turnsIn(await stageEntries(place, search));
}

/** @param entries in the order of time */
export function turnsIn(entries: readonly LogEntry[]): readonly ProviderTurn[] {
  return entries.flatMap((entry) => turnOf(entry) ?? []).toReversed();
}

function turnOf(entry: LogEntry): ProviderTurn | undefined {
  const { timestamp: at, reason } = entry;
  const code = String(entry.code);
  const topic = topicOf(code);
  if (topic === undefined) return undefined;
  return {
    ...{ at, topic, code, by: String(entry.function) },
    ...(typeof reason === "string" && { reason }),
    counts: Object.fromEntries(
      counted.flatMap((name) => {
        const value = entry[name];
        return typeof value === "number" ? [[name, value]] : [];
      }),
    ),
  };
}

function topicOf(code: string): ProviderTopic | undefined {
  return topicNames.find((topic) => topics[topic].includes(code));
}

/** When, what, by which function, why, and what was found. */
export type HistoryLine = readonly [at: string, what: string, by: string, reason: string, found: string];

/** The history for people, the latest first. An outage is one line, however often it was probed. */
export function historyLines(history: readonly ProviderTurn[], now: Date): readonly HistoryLine[] {
  const outages = outagesIn(history).map(
    (outage): HistoryLine => [outage.from, "OUTAGE", "fetch/data", oneLine(outageText(outage, now)), ""],
  );
  const others = history
    .filter(({ topic }) => topic !== "breaker")
    .map(({ at, code, by, reason = "", counts }): HistoryLine => [at, code, by, reason, countsText(counts)]);
  return [...outages, ...others].toSorted(([one], [other]) => (one < other ? 1 : -1));
}

export function historyText(history: readonly ProviderTurn[], since: string): string {
  if (history.length === 0) return `Nothing happened since ${since}.`;
  return tableText(["AT", "WHAT", "BY", "REASON", "FOUND"], historyLines(history, new Date()));
}

/** Counts in words: `listed 12, missing 1`. */
function countsText(counts: ProviderTurn["counts"]): string {
  return Object.entries(counts)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}
