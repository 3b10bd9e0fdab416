import { describe, expect, it } from "vitest";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { receiptKey } from "../../../domain/event/receipts.ts";
import {
  type Answer,
  applyProviderAnswer as answer,
  applyEvent as apply,
  type State,
} from "../../../domain/state/state.ts";
import { account, applied, at, eventOf, minute, userId } from "../samples.ts";

const connected = eventOf("account.connected");
const disconnected = eventOf("account.disconnected");
const deleted = eventOf("account.deleted");
const timed = (type: "connected" | "disconnected" | "deleted" | "updated", time: number) =>
  eventOf(`account.${type}`, { time: minute(time) });

const isApplied = { unconfirmed: false, latest: { cause: "event", outcome: "applied" } };
const isConnected = { connected: true, unconfirmed: false };
const isAsked = { connected: true, unconfirmed: true };
const says = (connected: boolean) => eventOf("account.updated", { connected });
const created = eventOf("account.created");
const createdUnconnected = eventOf("account.created", { connected: false });

it.each<[string, readonly IncomeEvent[], object]>([
  [
    "the first one, unordered: is applied",
    [connected],
    {
      ...{ subject: account, version: 1, connected: true, deleted: false, ...isApplied },
      processed: [receiptKey(connected, 1)],
    },
  ],
  ["the first one, with a time: is applied", [timed("connected", 1)], { connected: true, asOf: minute(1) }],
  [
    "the first one, an unordered deletion: waits for the provider's answer",
    [deleted],
    { version: 1, deleted: false, unconfirmed: true },
  ],
  ["created as connected", [eventOf("account.created", { connected: true })], { connected: true }],
  ["updated as not connected", [says(false)], { connected: false }],
  ["created: says nothing of connected", [created], { connected: undefined, ...isApplied }],
  ["created unconnected, as all are: says nothing", [createdUnconnected], { connected: undefined }],
  ["created unconnected after it was connected", [connected, createdUnconnected], isConnected],
  ["connected after it was created unconnected", [createdUnconnected, connected], isConnected],
  [
    "connected: the name is believed before the field",
    [eventOf("account.connected", { connected: false })],
    { connected: true },
  ],
  [
    "disconnected: the name is believed before the field",
    [eventOf("account.disconnected", { connected: true })],
    { connected: false },
  ],
  [
    "an unordered one that says what is known: agrees",
    [connected, says(true)],
    { version: 2, unconfirmed: false, latest: { outcome: "agreed" } },
  ],
  [
    "an unordered one that contradicts: causes a call, and changes nothing until the answer",
    [connected, disconnected],
    { version: 2, ...isAsked, latest: { cause: "event", outcome: "unconfirmed" } },
  ],
  [
    "any while an answer is awaited: asks again",
    [connected, disconnected, says(true)],
    { version: 3, unconfirmed: true, latest: { outcome: "unconfirmed" } },
  ],
  [
    "an unordered one with the first news about connected: is applied",
    [created, disconnected],
    { connected: false, ...isApplied },
  ],
  [
    "one that is newer: is applied",
    [timed("connected", 1), timed("disconnected", 2)],
    { connected: false, asOf: minute(2), ...isApplied },
  ],
  [
    "one that is newer and says what is known: is applied, and takes its place in the order",
    [timed("connected", 1), timed("connected", 3)],
    { connected: true, asOf: minute(3), latest: { outcome: "applied" } },
  ],
  [
    "one that is older: is stale, and changes neither state nor time",
    [timed("disconnected", 2), timed("connected", 1)],
    { version: 2, connected: false, unconfirmed: false, asOf: minute(2), latest: { outcome: "stale" } },
  ],
  ["one of the same moment that contradicts", [timed("connected", 1), timed("disconnected", 1)], isAsked],
  [
    "one after a newer one that says nothing of connected",
    [timed("updated", 5), timed("connected", 3)],
    { connected: true, asOf: minute(3) },
  ],
  [
    "one between those that say nothing of connected",
    [timed("disconnected", 1), timed("updated", 5), timed("connected", 3)],
    isConnected,
  ],
  ...[1, 5, 9].map((time): [string, readonly IncomeEvent[], object] => [
    `one of minute ${time} that says nothing of connected: is neither stale nor news`,
    [timed("connected", 5), timed("updated", time)],
    { connected: true, asOf: minute(5), latest: { outcome: "agreed" } },
  ]),
  [
    "one without a time that says the same: the known one loses its place in the order",
    [timed("connected", 5), says(true)],
    { asOf: undefined },
  ],
  [
    "one with a time after one without: causes a call",
    [timed("connected", 5), says(true), timed("disconnected", 7)],
    isAsked,
  ],
  [
    "one that is stale while an answer is awaited: leaves the question open at its new version",
    [timed("connected", 5), timed("disconnected", 5), timed("disconnected", 1)],
    { version: 3, unconfirmed: true, latest: { outcome: "stale" } },
  ],
])("an event, %s", (_, events, expected) => {
  const state: object = applied(events);
  expect({ connected: undefined, asOf: undefined, ...state }).toMatchObject(expected);
});

describe("repeated bytes", () => {
  it("have no effect if they agree, or have their own time or id", () => {
    expect(apply(applied([connected]), connected, 2)).toBeUndefined();
    const state = applied([timed("connected", 1), timed("disconnected", 2)]);
    expect(apply(state, timed("connected", 1), 2)).toBeUndefined();
    expect(apply(state, eventOf("account.connected", { eventId: "e-1" }), 2)).toBeUndefined();
  });

  it("cause a call if they contradict: it may be a true repeat", () => {
    const state = answer(applied([connected, disconnected]), 2, { found: true, connected: false }, { at });
    expect(apply(state, connected, 2)).toMatchObject({
      version: 4,
      connected: false,
      unconfirmed: true,
      latest: { cause: "again" },
    });
  });
});

describe("a deletion", () => {
  it.each([
    ["a time", { time: minute(1) }],
    ["an id of its own", { eventId: "e-1" }],
  ])("of a user waits for the provider if it erases users, although it has %s", (_, facts) => {
    const event = eventOf("user.deleted", { userId, ...facts });
    expect(apply(undefined, event, 1)).toMatchObject({ deleted: true, unconfirmed: false });
    const asked = apply(undefined, event, 1, { confirmsUserDeletions: true });
    expect(asked).toMatchObject({ deleted: false, unconfirmed: true });
    expect(answer(asked, 1, { found: true }, { at })).toMatchObject({ deleted: false, unconfirmed: false });
    expect(answer(asked, 1, { found: false }, { at })).toMatchObject({ deleted: true, unconfirmed: false });
  });

  it("takes effect at once if it has its own time or id, however old it is", () => {
    for (const event of [timed("deleted", 1), eventOf("account.deleted", { eventId: "e-1" })]) {
      expect(applied([timed("connected", 5), event])).toMatchObject({ deleted: true, unconfirmed: false });
    }
  });

  it("is final: no event, retry or answer brings the subject back", () => {
    const state = applied([timed("deleted", 1)]);
    for (const event of [timed("connected", 9), connected, eventOf("account.created", { eventId: "e" })]) {
      const next = apply(state, event, 1);
      expect(next).toMatchObject({ deleted: true, unconfirmed: false, latest: { outcome: "stale" } });
      expect(apply(state, event, 2)).toBeUndefined();
    }
    expect(answer(state, state.version, { found: true, connected: true }, { at })).toBeUndefined();
  });

  it("that is unordered needs the provider's answer, and is dropped if that contradicts", () => {
    const waiting = applied([connected, deleted]);
    expect(waiting).toMatchObject({ deleted: false, unconfirmed: true });
    expect(answer(waiting, 2, { found: false }, { at })).toMatchObject({ deleted: true, unconfirmed: false });
    expect(answer(waiting, 2, { found: true, connected: true }, { at })).toMatchObject({
      deleted: false,
      unconfirmed: false,
      connected: true,
    });
  });

  it("concerns users and company accounts alike", () => {
    const user = eventOf("user.deleted", { userId, time: minute(1), kind: "users" });
    expect(applied([user])).toMatchObject({ subject: { kind: "user", id: userId }, deleted: true });
    const company = eventOf("company-account.deleted", { companyAccountId: "c-1", kind: "company-accounts" });
    expect(applied([company])).toMatchObject({ subject: { kind: "company-account" }, unconfirmed: true });
  });
});

describe("a deletion that only reconciliation reported", () => {
  const reconciled = eventOf("account.deleted", { userId, reconciled: true });
  const restored = eventOf("account.restored", { userId, reconciled: true });
  const settle = (state: State, given: Answer) => answer(state, state.version, given, { at }) ?? state;
  const gone = settle(applied([timed("connected", 1), reconciled]), { found: false });

  it("can be reverted: the provider is called, and later events apply", () => {
    expect(gone).toMatchObject({ deleted: true, connected: true });
    const back = applied([restored], gone);
    expect(back).toMatchObject({ deleted: false, unconfirmed: true, latest: { outcome: "unconfirmed" } });
    const known = settle(back, { found: true, connected: false });
    expect(applied([timed("connected", 9)], known)).toMatchObject({ deleted: false, unconfirmed: true });
  });

  it("is final once a webhook reports it, too", () => {
    const state = applied([deleted, restored], gone);
    expect(state).toMatchObject({ deleted: true, latest: { outcome: "stale" } });
  });

  it("is reported and confirmed again after it was reverted", () => {
    const back = settle(applied([restored], gone), { found: true, connected: true });
    const again = { ...reconciled, id: "another" };
    expect(settle(applied([again], back), { found: false })).toMatchObject({ deleted: true });
  });
});

describe("the provider's answer", () => {
  const waiting = applied([timed("connected", 1), disconnected]);

  it("updates the state that asked, and notes when", () => {
    expect(answer(waiting, 2, { found: true, connected: false }, { at })).toMatchObject({
      version: 3,
      connected: false,
      unconfirmed: false,
      latest: { cause: "answer", at: at.toISOString() },
    });
  });

  it("is skipped if the state has changed since the call", () => {
    const moved = apply(waiting, disconnected, 2);
    expect(moved).toMatchObject({ version: 3, unconfirmed: true });
    expect(answer(moved, 2, { found: true, connected: false }, { at })).toBeUndefined();
    expect(answer(waiting, 3, { found: true, connected: false }, { at })).toBeUndefined();
    expect(answer(undefined, 1, { found: false }, { at })).toBeUndefined();
  });

  it("has no place in the order of times: a later contradiction causes a call", () => {
    const settled = answer(waiting, 2, { found: true, connected: false }, { at });
    expect(settled).not.toHaveProperty("asOf");
    expect(apply(settled, timed("connected", 99), 1)).toMatchObject({ connected: false, unconfirmed: true });
  });

  it("of 404 takes effect only if an event announced the deletion, because a deletion is final", () => {
    expect(() => answer(waiting, 2, { found: false }, { at })).toThrow("no event announced its deletion");
    const announced = apply(waiting, deleted, 1);
    expect(answer(announced, 3, { found: false }, { at })).toMatchObject({
      deleted: true,
      unconfirmed: false,
    });
    const refuted = answer(announced, 3, { found: true, connected: true }, { at });
    const doubted = apply(refuted, eventOf("account.disconnected", { datasourceId: "d" }), 1);
    expect(() => answer(doubted, 5, { found: false }, { at })).toThrow("no event announced its deletion");
  });

  it("without connected confirms only existence", () => {
    expect(answer(waiting, 2, { found: true }, { at })).toMatchObject({
      connected: true,
      unconfirmed: false,
    });
  });
});

describe("who owns an account", () => {
  it("is whoever was named first, permanently", () => {
    const state = applied([
      eventOf("account.created", { userId, datasourceId: "d-1" }),
      eventOf("account.updated", { userId: "another", datasourceId: "d-2" }),
    ]);
    expect(state).toMatchObject({ userId, datasourceId: "d-1" });
  });

  it("is learned even from an event that is stale, or after the deletion", () => {
    const late = eventOf("account.connected", { userId, datasourceId: "d-1", time: minute(1) });
    const owner = { userId, datasourceId: "d-1" };
    expect(applied([timed("disconnected", 2), late])).toMatchObject({ ...owner, connected: false });
    expect(applied([timed("deleted", 2), late])).toMatchObject({ ...owner, deleted: true });
  });
});
