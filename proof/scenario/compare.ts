import { isDeepStrictEqual } from "node:util";
import type { Expectation } from "./expectation.ts";
import type { DeadLetter, KnownConnection, TableSnapshot } from "./snapshot.ts";

export type Subscription = {
  readonly name: string;
  /** Exact message types or prefixes ending in `*`; absent: everything. */
  readonly types?: readonly string[] | undefined;
};

export type Found = {
  readonly table: TableSnapshot;
  /** By `<id>/<endpoint>`: data as text, from wherever it lies. */
  readonly contents: ReadonlyMap<string, string>;
  /** By subscriber: the distinct messages in its queue, or parked where it refused them, id and type. */
  readonly messages: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly deadLetters: readonly DeadLetter[];
};

/** What is missing or wrong, in words; empty where every expected record and message is there. */
export function findLosses(
  expected: Expectation,
  found: Found,
  subscriptions: readonly Subscription[],
): readonly string[] {
  const { table } = found;
  return [
    ...missing("event", expected.events, table.events),
    ...missing("user", expected.users, table.users),
    ...missing("document", expected.data.keys(), table.data),
    ...different(expected.data, found.contents),
    ...connections("account", expected.accounts, table.accounts),
    ...connections("company account", expected.companyAccounts, table.companyAccounts),
    ...subscriptions.flatMap((subscription) => missingMessages(expected, found, subscription)),
    ...missing("dead letter", expected.deadLetters, new Set(found.deadLetters.map(({ id }) => id))),
    ...unexpected(expected.deadLetters, found.deadLetters),
  ];
}

type Ids = { readonly has: (id: string) => boolean };

function missing(what: string, expected: Iterable<string>, found: Ids): readonly string[] {
  return [...expected].filter((id) => !found.has(id)).map((id) => `${what} ${id} is missing`);
}

/** Data that came in pages has a `next` beside what the provider knows of it. */
function different(expected: Expectation["data"], found: Found["contents"]): readonly string[] {
  return [...expected].flatMap(([name, data]) => {
    const stored: unknown = JSON.parse(found.get(name) ?? "null");
    const isSame = isDeepStrictEqual({ ...Object(stored), next: null }, { ...Object(data), next: null });
    return stored === null || isSame ? [] : [`document ${name} is another than the provider's`];
  });
}

function unexpected(expected: Ids, found: readonly DeadLetter[]): readonly string[] {
  return found
    .filter(({ id }) => !expected.has(id))
    .map(({ id, reason }) => `${id} is a dead letter and should not be: ${reason}`);
}

function connections(
  what: string,
  expected: Expectation["accounts"],
  found: ReadonlyMap<string, KnownConnection>,
): readonly string[] {
  return [...expected].flatMap(([id, { connected }]) => {
    const known = found.get(id);
    if (known === undefined) return [`${what} ${id} is missing`];
    if (known.unconfirmed) return [`${what} ${id} is still unconfirmed`];
    if (known.deleted || (known.connected ?? false) !== connected) {
      return [`${what} ${id} should be ${connected ? "connected" : "not connected"}`];
    }
    return [];
  });
}

function missingMessages(
  { events, data }: Expectation,
  { table, messages }: Found,
  { name, types }: Subscription,
): readonly string[] {
  const received = messages.get(name) ?? new Map<string, string>();
  const isWanted = (type: string) =>
    types === undefined ||
    types.some((pattern) =>
      pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern,
    );
  const wanted = [...events].filter((id) => isWanted(table.events.get(id)?.type ?? ""));
  const updates = [...received.values()].filter((type) => type === "data.updated").length;
  const lacking = isWanted("data.updated") ? Math.max(0, data.size - updates) : 0;
  const unasked = [...received].filter(([, type]) => !isWanted(type));
  return [
    ...missing(`message to ${name}`, wanted, received),
    ...Array.from({ length: lacking }, () => `a data.updated message to ${name} is missing`),
    ...unasked.map(([id, type]) => `message ${id} to ${name} has the type ${type}, which it did not ask for`),
  ];
}
