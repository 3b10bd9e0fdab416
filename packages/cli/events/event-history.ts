import { fieldPattern } from "../../../adapters/aws/log-groups.ts";
import { loggedNames } from "../../../adapters/dynamodb/logged-names.ts";
import { present } from "../../../domain/core/parse.ts";
import { isWebhookKind, type WebhookKind } from "../../../domain/event/events.ts";
import { nameOf } from "../../../domain/event/subjects.ts";
import { wants } from "../../../domain/message/message.ts";
import type { Place } from "../core/command.ts";
import type { TextFlags } from "../core/flags.ts";
import { isoTime } from "../core/text.ts";
import { type EntrySearch, type LogEntry, stageEntries, textsOf } from "../logs/log-entries.ts";

/** The progress of an event according to the functions' logs. */
export const historyOutcomes = ["accepted", "duplicate", "stored", "ignored", "rejected"] as const;
export type HistoryOutcome = (typeof historyOutcomes)[number];

/** A received webhook. */
export type HistoryRow = {
  readonly id: string;
  /** When it was received, ISO 8601. */
  readonly at: string;
  readonly kind: WebhookKind;
  readonly outcome: string;
  readonly times: number;
  /** Known once it is stored. */
  readonly type?: string;
  /** `account/<id>`; undefined if it was erased. */
  readonly subject?: string;
  /** The subject's name in the logs, `account/<digest>`. */
  readonly loggedAs?: string;
  readonly endpoint?: string;
  /** Set if the event was rejected. */
  readonly reason?: string;
};

/** Counted in the logs that were read: how often it was received, and when last. */
export type HistoryEvent = HistoryRow & { readonly outcome: HistoryOutcome };

/**
 * The type may be a pattern, such as `account.*`. The text is a part of the id, the type or the subject; in logs only
 * a whole subject or its id.
 */
export type HistoryFilter = TextFlags<"kind" | "type" | "outcome" | "endpoint" | "text">;

/** The outcome for each log code. Other lines are not read. */
const outcomeOf: Readonly<Record<string, HistoryOutcome>> = {
  WEBHOOK_ACCEPTED: "accepted",
  EVENT_STORED: "stored",
  EVENT_DUPLICATE: "duplicate",
  EVENT_IGNORED: "ignored",
  WEBHOOK_UNREADABLE: "rejected",
  MESSAGE_REJECTED: "rejected",
};

export type HistoryPeriod = { readonly since: string; readonly until?: string };
export type HistoryProgress = { readonly lines: number; readonly done: number; readonly total: number };

/** An event can be stored this long after it was received, so lines around the period are read, too. */
const marginInMs = 15 * 60_000;

/**
 * The events received in a period, the newest first, from the logs of the functions that receive and store
 * them.
 * @param onProgress called after each page with the events so far
 */
export async function eventHistory(
  place: Place,
  { since, until }: HistoryPeriod,
  onProgress: (progress: HistoryProgress) => void = () => undefined,
): Promise<readonly HistoryEvent[]> {
  const around = present<EntrySearch>({
    since: isoTime(Date.parse(since) - marginInMs),
    until: until === undefined ? undefined : isoTime(Date.parse(until) + marginInMs),
    pattern: fieldPattern("code", Object.keys(outcomeOf)),
    functions: /(Receive|Store)Logs/,
  });
  let count = 0;
  const entries = await stageEntries(place, around, ({ lines, done, total }) => {
    count += lines.length;
    onProgress({ lines: count, done, total });
  });
  return historyIn(entries).filter(({ at }) => at >= since && (until === undefined || at < until));
}

/** @param entries in the order of time */
export function historyIn(entries: readonly LogEntry[]): readonly HistoryEvent[] {
  const events = new Map<string, HistoryEvent>();
  for (const entry of entries) {
    const outcome = outcomeOf[String(entry.code)];
    const kind = entry.kind ?? String(entry.function).split("/")[1];
    if (outcome === undefined || !isWebhookKind(kind)) continue;
    const [ids, types, subjects] = [idsOf(entry), textsIn(entry.types), textsIn(entry.subjects)];
    const webhooks = textsIn(entry.webhooks).map((id) => events.get(id));
    for (const [index, id] of ids.entries()) {
      // Several events of one webhook have ids of their own, but its time and count.
      const known = events.get(id) ?? webhooks[index];
      const isFurther = known === undefined || rankOf(outcome) >= rankOf(known.outcome);
      const isAccepted = outcome === "accepted";
      events.set(id, {
        ...{ id, kind, outcome: isFurther ? outcome : known.outcome },
        times: (known?.times ?? 0) + Number(isAccepted),
        at: isAccepted || known === undefined ? entry.timestamp : known.at,
        ...present({
          type: types[index] ?? known?.type,
          reason: outcome === "rejected" ? String(entry.reason ?? "no JSON") : known?.reason,
          ...aboutIn(subjects[index], known),
        }),
      });
    }
    for (const id of textsIn(entry.webhooks)) if (!ids.includes(id)) events.delete(id);
  }
  return [...events.values()].toSorted((one, other) =>
    one.at < other.at ? 1 : Number(one.at > other.at) * -1,
  );
}

function aboutIn(text: string | undefined, known: HistoryEvent | undefined) {
  if (text === undefined) return { loggedAs: known?.loggedAs, endpoint: known?.endpoint };
  const [, loggedAs, endpoint] = /^([^/]+\/[^/]+)(?:\/(.*))?$/s.exec(text) ?? [];
  return { loggedAs, endpoint };
}

/** Adds the subjects of events that were read from the logs. Makes one query for each of them. */
export async function withSubjects<Row extends Pick<HistoryRow, "subject" | "loggedAs">>(
  rows: readonly Row[],
  { deployment, clients }: Place,
): Promise<readonly Row[]> {
  const { subjectsOf } = loggedNames(clients.dynamodb, deployment.output("TableName"));
  const subjects = await subjectsOf(new Set(rows.flatMap(({ loggedAs }) => loggedAs ?? [])));
  return rows.map((row) => {
    const subject = subjects.get(row.loggedAs ?? "");
    return subject === undefined ? row : { ...row, subject: nameOf(subject) };
  });
}

export function selectHistory<Row extends HistoryRow>(
  events: readonly Row[],
  { kind, type, outcome, endpoint, text }: HistoryFilter,
): readonly Row[] {
  const texts = text === undefined ? [""] : textsOf(text);
  return events.filter(
    (event) =>
      (kind === undefined || event.kind === kind) &&
      (outcome === undefined || event.outcome === outcome) &&
      (endpoint === undefined || event.endpoint === endpoint) &&
      (type === undefined || (event.type !== undefined && wants({ name: "", types: [type] }, event.type))) &&
      [event.id, event.type, event.subject, event.loggedAs].some((named) =>
        texts.some((each) => named?.includes(each)),
      ),
  );
}

function rankOf(outcome: HistoryOutcome): number {
  return historyOutcomes.indexOf(outcome);
}

export function idsOf({ correlationId, correlationIds }: LogEntry): readonly string[] {
  return Array.isArray(correlationIds) ? textsIn(correlationIds) : textsIn([correlationId]);
}

export function textsIn(value: unknown): readonly string[] {
  const several: readonly unknown[] = Array.isArray(value) ? value : [];
  return several.filter((each) => typeof each === "string");
}

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
export async function refusals(place: Place, since: string): Promise<readonly Refusal[]> {
  const pattern = fieldPattern("code", ["WEBHOOK_REFUSED"]);
  return refusalsIn(await stageEntries(place, { since, pattern, functions: /ReceiveLogs/ }));
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
