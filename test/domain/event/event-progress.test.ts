import { describe, expect, it } from "vitest";
import { progressOf } from "../../../domain/event/event-progress.ts";
import type { EventAttributes, IncomeEvent } from "../../../domain/event/events.ts";
import { requestFetch } from "../../../domain/fetch/document.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";

const account = { kind: "account", id: "a" } as const;
const event = (name: string, facts: Partial<EventAttributes> = {}): IncomeEvent => ({
  id: name.padEnd(43, "-"),
  kind: "accounts",
  receivedAt: "2026-01-01T00:00:00.000Z",
  type: "account.connected",
  accountId: "a",
  ...facts,
});
const applyAll = (events: readonly IncomeEvent[]) =>
  events.reduce<State | undefined>((state, each) => applyEvent(state, each, 1) ?? state, undefined);
const progress = (each: IncomeEvent, state: State | undefined) => progressOf(each, { state, documents: [] });

describe("an event", () => {
  const connected = event("connected");
  const disconnected = event("disconnected", { type: "account.disconnected" });

  it("is stored while nothing has followed, also where others of its subject were processed", () => {
    expect(progress(connected, undefined)).toEqual({ state: "stored" });
    expect(progress(disconnected, applyAll([connected]))).toEqual({ state: "stored" });
  });

  it("is done once it is processed, with its outcome and the version that it led to", () => {
    expect(progress(connected, applyAll([connected]))).toEqual({
      state: "done",
      outcome: "applied",
      version: 1,
    });
  });

  it("keeps no outcome once another of its subject is processed", () => {
    const again = event("again", { type: "account.updated" });
    expect(progress(connected, applyAll([connected, again]))).toEqual({ state: "done" });
  });

  it("is being asked about where it contradicts, until the provider has answered", () => {
    const state = applyAll([connected, disconnected]);
    expect(progress(disconnected, state)).toMatchObject({ state: "asking", outcome: "unconfirmed" });
    expect(progress(connected, state)).toEqual({ state: "done" });
    const answered = applyProviderAnswer(state, 2, { found: true, connected: false }, { at: new Date(0) });
    expect(progress(disconnected, answered)).toEqual({ state: "done" });
  });

  it("is past once its subject has processed twenty others", () => {
    const others = Array.from({ length: 20 }, (_, index) =>
      event(`other-${index}`, { time: `2026-01-${index + 10}` }),
    );
    expect(progress(connected, applyAll([connected, ...others.slice(1)]))).toEqual({ state: "done" });
    expect(progress(connected, applyAll([connected, ...others]))).toEqual({ state: "past" });
  });
});

describe("an endpoint's event", () => {
  const announced = event("told", { type: "endpoint.updated", endpoint: "income", eventId: "e" });
  const data = requestFetch(undefined, account, { endpoint: "income" }, { event: announced, receipts: 1 });
  if (data === undefined) throw new Error("the event wants nothing");
  const progressWith = (document: object) =>
    progressOf(announced, { state: undefined, documents: [{ ...data, ...document }] }).state;

  it("is stored until its data is requested", () => {
    expect(progressOf(announced, { state: applyAll([event("connected")]), documents: [] })).toEqual({
      state: "stored",
    });
    expect(progressWith({ endpoint: "profile" })).toBe("stored");
  });

  it("is fetching while more was requested of its data than was read, and then done", () => {
    expect(progressWith({})).toBe("fetching");
    expect(progressWith({ done: 1 })).toBe("done");
  });

  it("is found by the document that processed it, whatever dates that is of", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const other = { ...data, judged: ["other.1"], wanted: 5 };
    const documents = [other, { ...data, range, done: 1 }];
    expect(progressOf(announced, { state: undefined, documents }).state).toBe("done");
  });

  it("waits for nothing where it says that there is no data yet", () => {
    const none = { ...announced, dataAvailable: false };
    const requested = requestFetch(
      data,
      account,
      { endpoint: "income" },
      { event: { ...none, id: "none".padEnd(43, "-") }, receipts: 1 },
    );
    if (requested === undefined) throw new Error("the event is not judged");
    expect(progressOf(none, { state: undefined, documents: [requested] }).state).toBe("done");
  });
});
