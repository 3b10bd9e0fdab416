import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import type { Place } from "../core/command.ts";
import { tableText } from "../core/table.ts";
import { counted, oneLine, spanText } from "../core/text.ts";
import { type LogEntry, stageEntries } from "../logs/log-entries.ts";

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

/** An event between this stage and the provider, by the function that did or found it. */
export type ProviderTurn = NonNullable<ReturnType<typeof turnOf>>;

/** What a turn's log line counts. */
const countNames = ["listed", "missing", "conflicting", "orphaned", "deleted", "reread", "skipped"];

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

function turnOf(entry: LogEntry) {
  const { timestamp: at, reason } = entry;
  const code = String(entry.code);
  const topic = topicNames.find((name) => topics[name].includes(code));
  if (topic === undefined) return undefined;
  const counts = countNames.flatMap((name) => {
    const value = entry[name];
    return typeof value === "number" ? [[name, value] as const] : [];
  });
  return {
    ...{ at, topic, code, by: String(entry.function), counts: Object.fromEntries(counts) },
    ...(typeof reason === "string" && { reason }),
  };
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

/** A period in which the provider was down. */
export type Outage = {
  readonly from: string;
  /** Undefined while it lasts. */
  readonly until?: string;
  /** Failed calls and probes in this period. */
  readonly probes: number;
  readonly reason?: string;
};

/** The outages in a history, the latest first. @param turns the latest first */
export function outagesIn(turns: readonly Omit<ProviderTurn, "by" | "counts">[]): readonly Outage[] {
  const outages: Outage[] = [];
  for (const { topic, code, at, reason } of turns.toReversed()) {
    if (topic !== "breaker") continue;
    const last = outages.at(-1);
    const isOpen = last !== undefined && last.until === undefined;
    if (code === "PROVIDER_BACK") {
      if (isOpen) outages.splice(-1, 1, { ...last, until: at });
    } else if (isOpen) outages.splice(-1, 1, { ...last, probes: last.probes + 1 });
    else outages.push({ from: at, probes: 1, ...(reason !== undefined && { reason }) });
  }
  return outages.toReversed();
}

/** `down for 12m 5s (9 probes): the provider answered 503` */
export function outageText({ from, until, probes, reason }: Outage, now: Date): string {
  const end = until === undefined ? now : new Date(until);
  const span = spanText(Math.max(0, (end.getTime() - Date.parse(from)) / 1000));
  const found = `${counted(probes, "probe")} failed`;
  const how = until === undefined ? `down for ${span} so far` : `down for ${span}`;
  return `${how}, ${found}${reason === undefined ? "" : `: ${reason}`}`;
}
