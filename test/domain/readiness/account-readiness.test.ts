import { expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import {
  afterDocument,
  afterSilence,
  afterState,
  atDeadline,
  beginConnection,
  beginsConnection,
  type Failures,
  statusOf,
} from "../../../domain/readiness/readiness.ts";
import {
  type AccountReadiness,
  type Announcement,
  secondsUntilCheck,
} from "../../../domain/readiness/stored-readiness.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { account, applied, at, eventOf, minute } from "../samples.ts";

const settings = { endpoints: ["income", "employment"], deadlineSeconds: 60 } as const;
const connected = eventOf("account.connected");
const disconnected = eventOf("account.disconnected");
const timed = (type: "connected" | "disconnected", time: number) =>
  eventOf(`account.${type}`, { time: minute(time) });

/** Events or answers of the provider, one per second from 1 s on. */
function stateAfter(facts: readonly (IncomeEvent | boolean)[]): State {
  const seen = new Map<string, number>();
  const state = facts.reduce<State | undefined>((known, fact, index) => {
    if (typeof fact === "boolean") {
      return (
        applyProviderAnswer(known, known?.version ?? 0, { found: true, connected: fact }, { at }) ?? known
      );
    }
    const receipts = (seen.get(fact.id) ?? 0) + 1;
    seen.set(fact.id, receipts);
    return applyEvent(known, fact, receipts, { since: (index + 1) * 1_000 }) ?? known;
  }, undefined);
  if (state === undefined) throw new Error("no event was processed");
  return state;
}

it.each<[string, readonly (IncomeEvent | boolean)[], number | undefined]>([
  ["begins with the event that connects", [connected], 1_000],
  [
    "goes on when the account is connected twice",
    [connected, eventOf("account.connected", { eventId: "2" })],
    1_000,
  ],
  ["goes on with a newer report of the same", [timed("connected", 1), timed("connected", 2)], 1_000],
  ["ends when the account is disconnected", [timed("connected", 1), timed("disconnected", 2)], undefined],
  ["ends when the provider says so", [connected, disconnected, false], undefined],
  ["is in doubt, and the same, until the provider has answered", [connected, disconnected], 1_000],
  [
    "begins anew when the account is connected again",
    [timed("connected", 1), timed("disconnected", 2), timed("connected", 3)],
    3_000,
  ],
  [
    "begins anew when the provider confirms it after an announced end",
    [connected, disconnected, true],
    2_000,
  ],
  ["begins anew with the last event before the answer", [connected, disconnected, connected, true], 3_000],
  [
    "begins anew with bytes that were received before",
    [connected, disconnected, false, connected, true],
    4_000,
  ],
  [
    "goes on when a late retry of an end contradicts",
    [disconnected, connected, true, disconnected, true],
    2_000,
  ],
  [
    "goes on through a deletion that the provider denies",
    [connected, eventOf("account.deleted"), true],
    1_000,
  ],
  [
    "goes on when a deletion is taken back",
    [
      connected,
      eventOf("account.deleted", { eventId: "d", reconciled: true }),
      eventOf("account.restored", { reconciled: true }),
      true,
    ],
    1_000,
  ],
])("a connection %s", (_, facts, since) => {
  const { connected, connection } = stateAfter(facts);
  expect(connected === true ? connection?.since : undefined).toBe(since);
});

const state = stateAfter([connected]);

function begun(minDays?: number): AccountReadiness {
  const more = minDays === undefined ? {} : { minDays };
  const readiness = beginConnection(undefined, state, [], { settings: { ...settings, ...more }, now: 1_000 });
  if (readiness === undefined) throw new Error("it began no connection");
  return readiness;
}

function read(endpoint: string, more: Partial<Document> = {}): Document {
  const version = { asOf: 9_000, by: [], announced: 9_000, news: true };
  return { ...version, subject: account, endpoint, digest: "d", size: 1, ...more };
}

function after(readiness: AccountReadiness, documents: readonly Document[]): AccountReadiness {
  return documents.reduce((known, document) => afterDocument(known, document, 99_000) ?? known, readiness);
}

const none = (endpoint: string): Document => {
  const { digest: _, size: __, ...rest } = read(endpoint);
  return rest;
};

it("announces the documents that decided it, and no later change of the account", () => {
  const ready = after(begun(), [
    read("income"),
    read("employment", { asOf: 9_500, announced: 9_400 }),
    read("trips"),
  ]);
  expect(ready).toMatchObject({
    version: 3,
    announced: { status: "ready", version: 3, since: 1_000, at: 9_500 },
  });
  expect(ready.announced?.documents).toEqual([
    { endpoint: "income", digest: "d", announced: 9_000 },
    { endpoint: "employment", digest: "d", announced: 9_400 },
  ]);
  expect(afterDocument(ready, read("income", { announced: 9_999, digest: "e" }), 99_000)).toBeUndefined();
});

type Incomplete = { readonly missing: Announcement["missing"]; readonly found: readonly string[] };

it.each<[string, readonly Document[], Failures, Incomplete]>([
  [
    "nothing was read",
    [read("income", { days: 90 })],
    {},
    { missing: [{ endpoint: "employment", reason: "notAnnounced" }], found: ["income"] },
  ],
  [
    "it was read before the connection",
    [read("income", { days: 90 }), read("employment", { asOf: 2_999 })],
    {},
    { missing: [{ endpoint: "employment", reason: "notAnnounced" }], found: ["income"] },
  ],
  [
    "the provider has none",
    [none("income"), read("employment")],
    {},
    { missing: [{ endpoint: "income", reason: "none" }], found: ["employment"] },
  ],
  [
    "it covers too few days",
    [read("income", { days: 89 }), read("employment", { days: 1 })],
    {},
    { missing: [{ endpoint: "income", reason: "tooFewDays" }], found: ["income", "employment"] },
  ],
  [
    "it can't be read",
    [],
    { income: "failing", employment: "deadLetter" },
    {
      missing: [
        { endpoint: "income", reason: "failing" },
        { endpoint: "employment", reason: "deadLetter" },
      ],
      found: [],
    },
  ],
  [
    "it was read although a task failed",
    [none("income"), read("employment")],
    { income: "failing" },
    { missing: [{ endpoint: "income", reason: "none" }], found: ["employment"] },
  ],
])(
  "is incomplete at the deadline if %s, and ready once that has arrived",
  (_, documents, failures, { missing, found }) => {
    const readiness = begun(90);
    const incomplete = atDeadline(readiness, 1_000, { state, documents, failures }, 99_000);
    if (typeof incomplete === "string") throw new Error(incomplete);
    expect(incomplete.announced).toMatchObject({ status: "incomplete", at: 61_000, missing });
    expect(incomplete.announced?.documents.map(({ endpoint }) => endpoint)).toEqual(found);
    const more = { days: 90, announced: 70_000, asOf: 70_000 };
    const ready = after(incomplete, [read("income", more), read("employment", more)]);
    expect(ready.announced).toMatchObject({ status: "ready", version: ready.version, missing: [] });
    expect(atDeadline(ready, 1_000, { state, documents, failures }, 99_000)).toBe("settled");
  },
);

it("is ready at the deadline if all was read by then", () => {
  const documents = [read("income", { days: 90 }), read("employment", { asOf: 9_500 })];
  expect(atDeadline(begun(90), 1_000, { state, documents, failures: {} }, 99_000)).toMatchObject({
    version: 2,
    announced: { status: "ready", version: 2, at: 9_500, missing: [] },
  });
});

it("is ready when the days of unchanged data are counted", () => {
  const waiting = after(begun(90), [read("income"), read("employment")]);
  expect(statusOf(waiting)).toBe("waiting");
  expect(statusOf(after(waiting, [read("income", { days: 90 })]))).toBe("ready");
});

const newer = after(begun(), [read("income", { announced: 9_500, days: 90 })]);

it.each<[string, AccountReadiness, Document]>([
  ["of an endpoint that is not awaited", begun(), read("trips")],
  ["of a range", begun(), read("income", { range: { start: "2026-01-01", end: "2026-01-31" } })],
  ["that is unchanged", after(begun(), [read("income")]), read("income", { asOf: 9_500, news: false })],
  ["that arrives after a newer one", newer, read("income", { days: 30 })],
  ["of a disconnected account", { ...begun(), isConnected: false }, read("income")],
])("ignores a document %s", (_, known, document) => {
  expect(afterDocument(known, document, 99_000)).toBeUndefined();
});

it("accepts a document read for a later event as read since the connection, however soon", () => {
  expect(afterDocument(begun(), read("income", { asOf: 1_100 }), 99_000)).toBeUndefined();
  expect(afterDocument(begun(), read("income", { asOf: 1_100, readFor: 1_000 }), 99_000)).toBeDefined();
  expect(afterDocument(begun(), read("income", { asOf: 1_100, readFor: 999 }), 99_000)).toBeUndefined();
});

it("delays its announcements until the account's state is confirmed", () => {
  const doubtful = stateAfter([connected, eventOf("account.deleted")]);
  const held = afterState(begun(), doubtful);
  if (held === undefined) throw new Error("nothing changed");
  const documents = [read("income"), read("employment")];
  expect(statusOf(after(held, documents))).toBe("waiting");
  expect(atDeadline(held, 1_000, { state: doubtful, documents, failures: {} }, 99_000)).toBe("held");
  const confirmed = stateAfter([connected, eventOf("account.deleted"), true]);
  expect(afterState(after(held, documents), confirmed)?.announced?.status).toBe("ready");
});

const ended = stateAfter([timed("connected", 1), timed("disconnected", 2)]);
const reconnected = stateAfter([connected, disconnected, true]);

it.each<[string, AccountReadiness, State | undefined]>([
  ["was disconnected", begun(), ended],
  ["began a newer connection", begun(), reconnected],
  ["is recorded with another connection", { ...begun(), since: 2_000 }, state],
  ["is gone", begun(), undefined],
])("announces nothing at the deadline of an account that %s", (_, known, now) => {
  expect(atDeadline(known, 1_000, { state: now, documents: [], failures: {} }, 99_000)).toBe("settled");
});

const ready = after(begun(), [read("income"), read("employment")]);
const unconfirmed = { isConfirmed: false } as const;
const { announced: _, ...allRead } = ready;

it.each<[string, AccountReadiness, State, Partial<AccountReadiness> | undefined]>([
  [
    "that reports the same connection",
    begun(),
    stateAfter([timed("connected", 1), timed("connected", 2)]),
    undefined,
  ],
  ["that is recorded already", { ...begun(), stateVersion: reconnected.version }, reconnected, undefined],
  [
    "that names the user",
    begun(),
    stateAfter([connected, eventOf("account.connected", { userId: "u" })]),
    { userId: "u" },
  ],
  [
    "that confirms what was announced",
    { ...ready, ...unconfirmed },
    stateAfter([connected, eventOf("account.deleted"), true]),
    { isConfirmed: true },
  ],
  [
    "that ends the connection after all was read",
    { ...allRead, ...unconfirmed },
    ended,
    { isConfirmed: true, isConnected: false },
  ],
])("announces nothing after a state %s", (_, known, next, changes) => {
  expect(beginsConnection(known, next)).toBe(false);
  const written = { ...known, ...changes, version: known.version + 1, stateVersion: next.version };
  expect(afterState(known, next)).toEqual(changes && written);
});

it("tracks no connection that began before the stage had readiness", () => {
  const state = applied([connected]);
  expect(beginsConnection(undefined, state)).toBe(false);
  expect(beginConnection(undefined, state, [], { settings, now: 1_000 })).toBeUndefined();
});

it.each([
  [1, 240 * 3_600, 900],
  [2, 240 * 3_600, 3_600],
  [3, 240 * 3_600, 21_600],
  [4, 240 * 3_600, 42_900],
  [50, 240 * 3_600, 42_900],
  [2, 899.5, 900],
  [2, 0, 1],
  [2, -60, 1],
])("hides a deadline after receive %i, %f s before it is due, for %i s", (receives, left, seconds) => {
  expect(secondsUntilCheck(1_000_000 + left * 1_000, receives, 1_000_000)).toBe(seconds);
});

const days = (count: number) => count * 86_400_000;

type Silence = {
  readonly known?: Partial<AccountReadiness>;
  readonly announced?: readonly number[];
  readonly now: number;
};

const stale = { version: 1, since: 1_000, at: 0 };

it.each<[string, Silence, number | undefined]>([
  ["has never had data", { now: days(31) }, 1_000],
  ["has had no data for less", { now: days(30) }, undefined],
  ["had data before it was connected", { announced: [500], now: days(31) }, 1_000],
  ["had data last of two", { announced: [days(2), days(1)], now: days(32) }, days(2)],
  ["had data since", { announced: [days(2)], now: days(31) }, undefined],
  ["is known to be silent since", { known: { stale }, now: days(40) }, undefined],
  ["is silent again", { known: { stale }, announced: [days(2)], now: days(40) }, days(2)],
  ["is disconnected", { known: { isConnected: false }, now: days(31) }, undefined],
  ["is unconfirmed", { known: { isConfirmed: false }, now: days(31) }, undefined],
])("announces as stale an account that %s", (_, { known, announced = [], now }, since) => {
  const begun = beginConnection(undefined, stateAfter([connected]), [], { settings, now: 1_000 });
  if (begun === undefined) throw new Error("no connection began");
  const documents = announced.map((at) => ({ announced: at }));
  const after = afterSilence({ ...begun, ...known }, documents, { staleMillis: days(30), now });
  expect(after?.stale).toEqual(since && { version: 2, since, at: now });
});
