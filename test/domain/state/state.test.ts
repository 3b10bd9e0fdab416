import { describe, expect, it } from "vitest";
import { applyProviderAnswer as answer, applyEvent as apply } from "../../../domain/state/state.ts";
import { account, applied, at, eventOf, minute, userId } from "../samples.ts";

const connected = eventOf("account.connected");
const disconnected = eventOf("account.disconnected");
const deleted = eventOf("account.deleted");
const timed = (type: "connected" | "disconnected" | "deleted" | "updated", time: number) =>
  eventOf(`account.${type}`, { time: minute(time) });

describe("the first event of a subject", () => {
  it("is applied whether it is unordered or not", () => {
    expect(applied([connected])).toMatchObject({
      subject: account,
      version: 1,
      connected: true,
      deleted: false,
      unconfirmed: false,
      latest: { cause: "event", outcome: "applied" },
    });
    expect(applied([timed("connected", 1)])).toMatchObject({ connected: true, asOf: minute(1) });
  });

  it("makes nothing deleted when it is an unordered deletion, which waits for the provider's answer", () => {
    expect(applied([deleted])).toMatchObject({ version: 1, deleted: false, unconfirmed: true });
  });

  it("takes connected from the event's own field where its name does not say it", () => {
    expect(applied([eventOf("account.created", { connected: true })]).connected).toBe(true);
    expect(applied([eventOf("account.updated", { connected: false })]).connected).toBe(false);
    const created = applied([eventOf("account.created")]);
    expect(created).not.toHaveProperty("connected");
    expect(created.latest).toMatchObject({ outcome: "applied" });
  });

  it("says nothing of connected where an account is created unconnected, as all are", () => {
    const created = eventOf("account.created", { connected: false });
    expect(applied([created])).not.toHaveProperty("connected");
    expect(applied([connected, created])).toMatchObject({ connected: true, unconfirmed: false });
    expect(applied([created, connected])).toMatchObject({ connected: true, unconfirmed: false });
  });

  it("believes the name of connect and disconnect before their field", () => {
    expect(applied([eventOf("account.connected", { connected: false })]).connected).toBe(true);
    expect(applied([eventOf("account.disconnected", { connected: true })]).connected).toBe(false);
  });
});

describe("an unordered event", () => {
  it("agrees where it says what is known", () => {
    const state = applied([connected, eventOf("account.updated", { connected: true })]);
    expect(state).toMatchObject({ version: 2, unconfirmed: false, latest: { outcome: "agreed" } });
  });

  it("is asked about where it contradicts what is known, and changes nothing until the answer", () => {
    expect(applied([connected, disconnected])).toMatchObject({
      version: 2,
      connected: true,
      unconfirmed: true,
      latest: { cause: "event", outcome: "unconfirmed" },
    });
  });

  it("asks again for whatever comes in while an answer is awaited", () => {
    const waiting = applied([connected, disconnected]);
    const next = apply(waiting, eventOf("account.updated", { connected: true }), 1);
    expect(next).toMatchObject({ version: 3, unconfirmed: true, latest: { outcome: "unconfirmed" } });
  });

  it("says nothing when its bytes come again and agree", () => {
    expect(apply(applied([connected]), connected, 2)).toBeUndefined();
  });

  it("is asked about when its bytes come again and contradict: it may be a true repeat", () => {
    const state = answer(applied([connected, disconnected]), 2, { found: true, connected: false }, { at });
    expect(apply(state, connected, 2)).toMatchObject({
      version: 4,
      connected: false,
      unconfirmed: true,
      latest: { cause: "again" },
    });
  });

  it("with its first news about connected is applied, for nothing contradicts it", () => {
    const state = applied([eventOf("account.created"), disconnected]);
    expect(state).toMatchObject({ connected: false, unconfirmed: false, latest: { outcome: "applied" } });
  });
});

describe("an event with its own time", () => {
  it("is applied where it is newer than what is known", () => {
    expect(applied([timed("connected", 1), timed("disconnected", 2)])).toMatchObject({
      connected: false,
      unconfirmed: false,
      asOf: minute(2),
      latest: { outcome: "applied" },
    });
  });

  it("is applied, and takes its place in the order, where it is newer and says what is known", () => {
    expect(applied([timed("connected", 1), timed("connected", 3)])).toMatchObject({
      connected: true,
      asOf: minute(3),
      latest: { outcome: "applied" },
    });
  });

  it("is stale where it is older, and changes neither state nor time", () => {
    expect(applied([timed("disconnected", 2), timed("connected", 1)])).toMatchObject({
      version: 2,
      connected: false,
      unconfirmed: false,
      asOf: minute(2),
      latest: { outcome: "stale" },
    });
  });

  it("is asked about where another of the same moment contradicts it", () => {
    expect(applied([timed("connected", 1), timed("disconnected", 1)])).toMatchObject({
      connected: true,
      unconfirmed: true,
    });
  });

  it("that says nothing of connected does not make an older one stale that does", () => {
    const update = timed("updated", 5);
    expect(applied([update, timed("connected", 3)])).toMatchObject({ connected: true, asOf: minute(3) });
    expect(applied([timed("disconnected", 1), update, timed("connected", 3)])).toMatchObject({
      connected: true,
      unconfirmed: false,
    });
  });

  it("that says nothing of connected is neither stale nor news, however old or new it is", () => {
    for (const time of [1, 5, 9]) {
      const state = applied([timed("connected", 5), timed("updated", time)]);
      expect(state).toMatchObject({ connected: true, asOf: minute(5), latest: { outcome: "agreed" } });
    }
  });

  it("loses its place in the order once an event without a time has said the same", () => {
    const state = applied([timed("connected", 5), eventOf("account.updated", { connected: true })]);
    expect(state).not.toHaveProperty("asOf");
    expect(apply(state, timed("disconnected", 7), 1)).toMatchObject({ connected: true, unconfirmed: true });
  });

  it("says nothing when its bytes come again, whatever it contradicts", () => {
    const state = applied([timed("connected", 1), timed("disconnected", 2)]);
    expect(apply(state, timed("connected", 1), 2)).toBeUndefined();
    expect(apply(state, eventOf("account.connected", { eventId: "e-1" }), 2)).toBeUndefined();
  });

  it("that is stale while an answer is awaited leaves the question open at its new version", () => {
    const waiting = applied([timed("connected", 5), timed("disconnected", 5), timed("disconnected", 1)]);
    expect(waiting).toMatchObject({ version: 3, unconfirmed: true, latest: { outcome: "stale" } });
  });
});

describe("a deletion", () => {
  it("is believed at once where it has a time or an id of its own, however old it is", () => {
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

  it("that is unordered needs the provider's answer, and is dropped by its contrary", () => {
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

  it("is void where the state has moved on since it was asked for", () => {
    const moved = apply(waiting, disconnected, 2);
    expect(moved).toMatchObject({ version: 3, unconfirmed: true });
    expect(answer(moved, 2, { found: true, connected: false }, { at })).toBeUndefined();
    expect(answer(waiting, 3, { found: true, connected: false }, { at })).toBeUndefined();
    expect(answer(undefined, 1, { found: false }, { at })).toBeUndefined();
  });

  it("has no place in the order of times: a contradiction after it is asked about", () => {
    const settled = answer(waiting, 2, { found: true, connected: false }, { at });
    expect(settled).not.toHaveProperty("asOf");
    expect(apply(settled, timed("connected", 99), 1)).toMatchObject({ connected: false, unconfirmed: true });
  });

  it("that knows nobody is believed only where an event announced the deletion, for a deletion is final", () => {
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

  it("that does not say whether it is connected confirms existence alone", () => {
    expect(answer(waiting, 2, { found: true }, { at })).toMatchObject({
      connected: true,
      unconfirmed: false,
    });
  });
});

describe("who owns an account", () => {
  it("is who was named first, for good", () => {
    const state = applied([
      eventOf("account.created", { userId, datasourceId: "d-1" }),
      eventOf("account.updated", { userId: "another", datasourceId: "d-2" }),
    ]);
    expect(state).toMatchObject({ userId, datasourceId: "d-1" });
  });

  it("is learned also from an event that is stale, or comes after the deletion", () => {
    const late = eventOf("account.connected", { userId, datasourceId: "d-1", time: minute(1) });
    const owner = { userId, datasourceId: "d-1" };
    expect(applied([timed("disconnected", 2), late])).toMatchObject({ ...owner, connected: false });
    expect(applied([timed("deleted", 2), late])).toMatchObject({ ...owner, deleted: true });
  });
});
