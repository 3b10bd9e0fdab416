import { z } from "zod";
import type { MessageLine } from "../records.ts";

const stateItem = z.object({
  pk: z.string(),
  state: z.object({
    connected: z.boolean().default(false),
    deleted: z.boolean(),
    unconfirmed: z.boolean(),
    connection: z.object({ since: z.number().optional() }).default({}),
  }),
});
const accountItem = z.object({
  pk: z.string(),
  readiness: z.object({
    userId: z.string().optional(),
    isConnected: z.boolean(),
    isConfirmed: z.boolean(),
    since: z.number(),
    announced: z.object({ status: z.string(), version: z.number(), since: z.number() }).optional(),
  }),
});
const userItem = z.object({
  pk: z.string(),
  readiness: z.object({
    version: z.number(),
    accounts: z.array(z.object({ accountId: z.string(), status: z.string(), since: z.number() })),
  }),
});
const message = z.object({
  id: z.string(),
  type: z.string(),
  sequence: z.coerce.number(),
  replayid: z.string().optional(),
  data: z.looseObject({
    userId: z.string().optional(),
    accountId: z.string().optional(),
    connectedSince: z.string().optional(),
    newestAt: z.string().optional(),
    documents: z.array(z.object({ endpoint: z.string() })).default([]),
    accounts: z
      .array(z.object({ accountId: z.string(), status: z.string(), connectedSince: z.string() }))
      .default([]),
  }),
});

/** A call that the provider answered with data. `sentAt` is in milliseconds since 1970. */
export type ProviderRead = { readonly target: string; readonly sentAt: number };

export type ReadinessEvidence = {
  /** Endpoints required for readiness. */
  readonly endpoints: readonly string[];
  /** How long they wait, in milliseconds. */
  readonly deadlineMillis: number;
  /** After how long without new data an account is stale, in milliseconds. */
  readonly staleMillis?: number;
  /** Accounts of which the provider lacks an endpoint at the end: they are incomplete. */
  readonly lacking?: ReadonlySet<string>;
  /** Items of the table at the end of a run. */
  readonly items: readonly Record<string, unknown>[];
  readonly messages: readonly MessageLine[];
  readonly reads: readonly ProviderRead[];
  /** Provider ids of erased subjects. The relay drops some of their messages. */
  readonly erased: ReadonlySet<string>;
};

type AccountItem = z.output<typeof accountItem>;
type UserItem = z.output<typeof userItem>;
type Received = z.output<typeof message> & { readonly at: number };

/** Describes each announcement of readiness that is early, duplicate or missing, in one sentence. */
export function findUnready(evidence: ReadinessEvidence): readonly string[] {
  const received = evidence.messages
    .filter(({ subscriber }) => subscriber === "everything")
    .map(({ at, body }) => ({ ...message.parse(JSON.parse(body)), at }))
    .filter(({ type, replayid }) => replayid === undefined && types.includes(type));
  return [...findEarly(received, evidence), ...findTwice(received), ...findMissing(received, evidence)];
}

const types = ["account.ready", "account.incomplete", "account.stale", "user.ready"];

function findEarly(
  received: readonly Received[],
  { endpoints, reads, erased, deadlineMillis, staleMillis = 0 }: ReadinessEvidence,
): readonly string[] {
  const sentOf = Map.groupBy(reads, ({ target }) => target.split("?")[0]?.split("/").slice(-2).join("/"));
  const isRead = ({ at, data }: Received, endpoint: string) =>
    data.documents.some((document) => document.endpoint === endpoint) &&
    sentOf
      .get(`${data.accountId}/${endpoint}`)
      ?.some(({ sentAt }) => Date.parse(data.connectedSince ?? "") <= sentAt && sentAt <= at);
  const announced = new Set(received.map(nameOf));
  return received.flatMap((each) => {
    const { id, type, data, at } = each;
    const earliest = Date.parse(data.connectedSince ?? "") + deadlineMillis;
    const isEarly = type === "account.incomplete" && at < earliest;
    const newest = Date.parse(data.newestAt ?? data.connectedSince ?? "");
    const isFresh = type === "account.stale" && at < newest + staleMillis;
    const unread = type === "account.ready" ? endpoints.filter((endpoint) => !isRead(each, endpoint)) : [];
    const unannounced = data.accounts
      .filter(({ accountId }) => !erased.has(accountId))
      .map(({ accountId, status, connectedSince }) => `account.${status} ${accountId} ${connectedSince}`)
      .filter((name) => !announced.has(name));
    return [
      ...(isEarly ? [`${id} came before the deadline`] : []),
      ...(isFresh ? [`${id} came while data was new`] : []),
      ...unread.map((endpoint) => `${id} came before ${endpoint} was read`),
      ...unannounced.map((name) => `${id} came before ${name}`),
    ];
  });
}

function nameOf({ type, data }: Received): string {
  return `${type} ${data.accountId} ${data.connectedSince}`;
}

/** Valid sequences of announcements for one connection. */
const allowed = ["account.ready", "account.incomplete", "account.incomplete, account.ready"];

function findTwice(received: readonly Received[]): readonly string[] {
  const distinct = [...new Map(received.map((each) => [each.id, each])).values()];
  const inOrder = distinct.toSorted((one, other) => one.sequence - other.sequence);
  const ofUsers = inOrder.filter(({ type }) => type === "user.ready");
  const ofStale = inOrder.filter(({ type }) => type === "account.stale");
  const silences = Map.groupBy(ofStale, ({ data: { accountId, connectedSince, newestAt } }) =>
    [accountId, newestAt ?? connectedSince].join(" "),
  );
  const again = [...silences].flatMap(([name, each]) =>
    each.length > 1 ? [`${name} was announced as stale ${each.length} times`] : [],
  );
  const ofAccounts = inOrder.filter(({ type }) => type === "account.ready" || type === "account.incomplete");
  const connections = Map.groupBy(ofAccounts, ({ data }) => `${data.accountId} ${data.connectedSince}`);
  const repeated = [...connections].flatMap(([name, each]) => {
    const announced = each.map(({ type }) => type).join(", ");
    return allowed.includes(announced) ? [] : [`${name} was announced as ${announced}`];
  });
  const unchanged = [...Map.groupBy(ofUsers, ({ data }) => data.userId)].flatMap(([, copies]) =>
    copies.flatMap(({ id, data }, index) =>
      JSON.stringify(data.accounts) === JSON.stringify(copies[index - 1]?.data.accounts)
        ? [`${id} repeats the announcement before it`]
        : [],
    ),
  );
  return [...repeated, ...again, ...unchanged];
}

/**
 * At the end of a run the provider answers every call, so each connected account is ready, or incomplete if the
 * provider lacks one of its endpoints.
 */
function findMissing(
  received: readonly Received[],
  { items, lacking = new Set() }: ReadinessEvidence,
): readonly string[] {
  const ids = new Set(received.map(({ id }) => id));
  const itemsOf = (kind: string, sortKey: string) =>
    items.filter(({ pk, sk }) => String(pk).startsWith(`${kind}#`) && sk === sortKey);
  const states = itemsOf("ACCOUNT", "STATE").map((item) => stateItem.parse(item));
  const ofAccounts = itemsOf("ACCOUNT", "READINESS").map((item) => accountItem.parse(item));
  const users = itemsOf("USER", "READINESS").map((item) => userItem.parse(item));
  const accounts = new Map(ofAccounts.map((each) => [each.pk, each]));
  const awaited = [
    ...ofAccounts.flatMap(({ pk, readiness: { announced } }) =>
      announced ? [idOf(pk, announced.version)] : [],
    ),
    // Each version announces something, unless an erasure removed an account.
    ...users.flatMap(({ pk, readiness }) =>
      readiness.accounts.length > 0 ? [idOf(pk, readiness.version)] : [],
    ),
  ];
  return [
    ...awaited.filter((id) => !ids.has(id)).map((id) => `the message ${id} is missing`),
    ...states
      .filter(({ state }) => state.connected && !state.deleted && !state.unconfirmed)
      .filter(({ pk, state: { connection } }) => {
        const account = accounts.get(pk);
        const since = settledSince(account);
        const status = lacking.has(pk.slice("ACCOUNT#".length)) ? "incomplete" : "ready";
        return (
          account?.readiness.announced?.status !== status || since === undefined || since !== connection.since
        );
      })
      .map(({ pk }) => `${pk} is not ${lacking.has(pk.slice("ACCOUNT#".length)) ? "incomplete" : "ready"}`),
    ...findMissingUsers(ofAccounts, users),
  ];
}

/** Message id of an item by its key. */
function idOf(pk: string, version: number): string {
  return `${pk.replace("#", "/").replace(/^\w+/, (kind) => kind.toLowerCase())}/readiness.${version}`;
}

/** Start of the account's connection, if it is confirmed and the latest announcement is about it. */
function settledSince(account: AccountItem | undefined): number | undefined {
  const { isConnected, isConfirmed, since, announced } = account?.readiness ?? {};
  return isConnected && isConfirmed && announced?.since === since ? since : undefined;
}

/**
 * Users without an up-to-date `user.ready` although all of their connected accounts are ready or incomplete.
 */
function findMissingUsers(accounts: readonly AccountItem[], users: readonly UserItem[]): readonly string[] {
  return [...Map.groupBy(accounts, ({ readiness }) => readiness.userId)].flatMap(([userId, own]) => {
    const connected = own.filter(({ readiness }) => readiness.isConnected);
    if (userId === undefined || connected.length === 0) return [];
    if (connected.some((account) => settledSince(account) === undefined)) return [];
    const listed = users.find(({ pk }) => pk === `USER#${userId}`)?.readiness.accounts ?? [];
    const names = new Set(
      listed.map(({ accountId, status, since }) => `ACCOUNT#${accountId} ${status} ${since}`),
    );
    const isListed = ({ pk, readiness: { since, announced } }: AccountItem) =>
      names.has(`${pk} ${announced?.status} ${since}`);
    const isWhole = listed.length === connected.length && connected.every(isListed);
    return isWhole ? [] : [`user.ready of ${userId} is missing`];
  });
}
