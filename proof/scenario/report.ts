import type { ScenarioResult } from "./run.ts";

/** What a run comes to; counted in the engines and at the API, never by the senders. */
export type Counts = {
  readonly webhooks: { readonly sent: number; readonly accepted: number; readonly rejected: number };
  readonly events: { readonly stored: number; readonly again: number; readonly reconciled: number };
  readonly records: { readonly users: number; readonly accounts: number; readonly data: number };
  readonly fetches: number;
  readonly kills: number;
  /** By name: how many messages each received. */
  readonly received: Readonly<Record<string, number>>;
  /** Versions of documents that were announced to subscribers, and read or could not read. */
  readonly documentsRead: number;
  readonly documentsMissing: number;
  readonly deadLetters: number;
  readonly lost: number;
  readonly seconds: number;
};

/** One request as the API logged it. */
type Access = { readonly status: number };

export function count(
  { found, documents, kills, losses }: ScenarioResult,
  requests: readonly Access[],
  seconds: number,
): Counts {
  const { table, messages, deadLetters } = found;
  const accepted = requests.filter(({ status }) => status >= 200 && status < 300).length;
  const rejected = requests.filter(({ status }) => status >= 400 && status < 500).length;
  const again = [...table.events.values()].reduce((sum, { receipts }) => sum + receipts - 1, 0);
  const reconciled = [...table.events.values()].filter((event) => event.reconciled).length;
  return {
    webhooks: { sent: requests.length, accepted, rejected },
    events: { stored: table.events.size, again, reconciled },
    records: {
      users: table.users.size,
      accounts: table.accounts.size + table.companyAccounts.size,
      data: table.data.size,
    },
    fetches: table.fetches,
    kills,
    received: Object.fromEntries([...messages].map(([name, received]) => [name, received.size])),
    documentsRead: documents.read,
    documentsMissing: documents.missing.length,
    deadLetters: new Set(deadLetters.map(({ id }) => id)).size,
    lost: losses.length,
    seconds,
  };
}

/** The stages of the way as a table, in the order of the data. */
export function printable(counts: Counts): string {
  const { webhooks, events, records, received } = counts;
  const rows: [string, string, number][] = [
    ["webhooks", "sent", webhooks.sent],
    ["", "accepted", webhooks.accepted],
    ["", "rejected (wrong secret)", webhooks.rejected],
    ["events", "stored", events.stored],
    ["", "received again", events.again],
    ["", "found by reconciliation", events.reconciled],
    ["records", "users", records.users],
    ["", "accounts", records.accounts],
    ["", "documents", records.data],
    ["fetches", "answered", counts.fetches],
    ...Object.entries(received).map(([name, messages], index): [string, string, number] => [
      index === 0 ? "subscribers" : "",
      name,
      messages,
    ]),
    ["documents", "read by subscribers", counts.documentsRead],
    ["", "not readable", counts.documentsMissing],
    ["dead letters", "sent on purpose", counts.deadLetters],
    ["kills", "functions killed at work", counts.kills],
    ["lost", "", counts.lost],
  ];
  const line = ([stage, what, n]: [string, string, number]) =>
    `  ${stage.padEnd(13)} ${what.padEnd(26)} ${String(n).padStart(8)}`;
  return rows.map(line).join("\n");
}

/** Dead dead letters by reason, each with its count. */
export function printableDeadLetters({ found: { deadLetters } }: ScenarioResult): string {
  const reasons = new Map<string, number>();
  for (const { reason } of deadLetters) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].map(([reason, n]) => `  dead letter: ${reason}${n === 1 ? "" : ` (${n})`}`).join("\n");
}
