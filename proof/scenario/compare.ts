import { isDeepStrictEqual } from "node:util";
import type { SubscriberOutput } from "@income-events/local-stack/outputs.ts";
import type { Sandbox } from "@income-events/sandbox/server.ts";
import type { DeadLetter, KnownConnection, TableSnapshot } from "./snapshot.ts";

/** Connection state at the provider, by id. */
type Connections = ReadonlyMap<string, { readonly connected: boolean }>;

/** Expected final state. */
export type Expectation = {
  /** Ids of events that must be stored, and published to each subscriber whose filter matches. */
  readonly events: ReadonlySet<string>;
  /** Ids of messages that must end in dead-letter queues because they cannot be understood. */
  readonly deadLetters: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
  readonly accounts: Connections;
  readonly companyAccounts: Connections;
  /** The provider's data, by `<account id>/<endpoint>`. */
  readonly data: ReadonlyMap<string, unknown>;
};

/**
 * @param options.accepted ids of the webhooks' events that were answered 2xx
 * @param options.deadLetters ids of what cannot become an event or a task, or the text if it has no id
 * @param options.isExpected whether something is expected of a user or an account; absent: of all
 */
export function expectationOf(
  sandbox: Pick<Sandbox, "snapshot" | "data">,
  {
    accepted = new Set(),
    deadLetters = new Set(),
    isExpected = () => true,
  }: {
    readonly accepted?: ReadonlySet<string>;
    readonly deadLetters?: ReadonlySet<string>;
    readonly isExpected?: (id: string) => boolean;
  },
): Expectation {
  const { users, accounts, endpoints } = sandbox.snapshot();
  const connectionsOf = (isCompany: boolean): Connections =>
    new Map(
      accounts
        .filter(({ id, company, deleted }) => company === isCompany && !deleted && isExpected(id))
        .map(({ id, connected }) => [id, { connected }]),
    );
  const ofAccounts = connectionsOf(false);
  const ofExpected = endpoints.filter(({ accountId }) => isExpected(accountId));
  // A company account's data exists at once; only the endpoints that every account has are fetched of it.
  const shares = Map.groupBy(
    ofExpected.filter(({ company }) => !company),
    ({ endpoint }) => endpoint,
  );
  const data = ofExpected.filter(
    ({ company, endpoint }) => !company || shares.get(endpoint)?.length === ofAccounts.size,
  );
  return {
    events: accepted.difference(deadLetters),
    deadLetters,
    users: new Set(users.flatMap(({ id }) => (isExpected(id) ? [id] : []))),
    accounts: ofAccounts,
    companyAccounts: connectionsOf(true),
    data: new Map(
      data.map(({ accountId, endpoint }) => [`${accountId}/${endpoint}`, sandbox.data(accountId, endpoint)]),
    ),
  };
}

export type Found = {
  readonly table: TableSnapshot;
  /**
   * By subscriber: id and type of the distinct messages in its queue, or parked because the queue refused
   * them.
   */
  readonly messages: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly deadLetters: readonly DeadLetter[];
};

/** Describes missing or wrong records; empty if every expected record and message exists. */
export function findLosses(
  expected: Expectation,
  found: Found,
  subscribers: readonly Pick<SubscriberOutput, "name" | "types">[],
): readonly string[] {
  const { table, deadLetters } = found;
  return [
    ...missing("event", expected.events, table.events),
    ...missing("user", expected.users, table.users),
    ...[...wrongDocuments(expected.data, table)].map(([name, fault]) => `document ${name} ${fault}`),
    ...connections("account", expected.accounts, table.accounts),
    ...connections("company account", expected.companyAccounts, table.companyAccounts),
    ...subscribers.flatMap((subscriber) => wrongMessages(expected, found, subscriber)),
    ...missing("dead letter", expected.deadLetters, new Set(deadLetters.map(({ id }) => id))),
    ...deadLetters
      .filter(({ id }) => !expected.deadLetters.has(id))
      .map(({ id, reason }) => `${id} is a dead letter and should not be: ${reason}`),
  ];
}

type Ids = { readonly has: (id: string) => boolean };

function missing(what: string, expected: Iterable<string>, found: Ids): readonly string[] {
  return [...expected].filter((id) => !found.has(id)).map((id) => `${what} ${id} is missing`);
}

/**
 * Documents that were not read since their last announcement, or that are not the provider's, with what is wrong.
 * @param expected the provider's data, by `<account id>/<endpoint>`
 */
export function wrongDocuments(
  expected: Expectation["data"],
  { data, contents }: Pick<TableSnapshot, "data" | "contents">,
): ReadonlyMap<string, string> {
  // Paged data has a `next` beyond the provider's fields.
  const unpaged = (document: unknown) => ({ ...Object(document), next: null });
  const wrong = new Map<string, string>();
  for (const [name, served] of expected) {
    const stored: unknown = JSON.parse(contents.get(name) ?? "null");
    if (!data.has(name)) wrong.set(name, "is missing");
    else if (!isDeepStrictEqual(unpaged(stored), unpaged(served)))
      wrong.set(name, "is another than the provider's");
  }
  return wrong;
}

function connections(
  what: string,
  expected: Connections,
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

function wrongMessages(
  { events, data }: Expectation,
  { table, messages }: Found,
  { name, types = ["*"] }: Pick<SubscriberOutput, "name" | "types">,
): readonly string[] {
  const received = messages.get(name) ?? new Map<string, string>();
  const isWanted = (type: string) =>
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
