import { describe, expect, it } from "vitest";
import { progressOf } from "../../../domain/event/event-progress.ts";
import type { EventFacts, IncomeEvent } from "../../../domain/event/events.ts";
import { want } from "../../../domain/fetch/document.ts";
import { judge, type State, settle } from "../../../domain/state/state.ts";

const account = { kind: "account", id: "a" } as const;
const event = (name: string, facts: Partial<EventFacts> = {}): IncomeEvent => ({
  id: name.padEnd(43, "-"),
  kind: "accounts",
  receivedAt: "2026-01-01T00:00:00.000Z",
  type: "account.connected",
  accountId: "a",
  ...facts,
});
const judgeAll = (events: readonly IncomeEvent[]) =>
  events.reduce<State | undefined>((state, each) => judge(state, each, 1) ?? state, undefined);
const progress = (each: IncomeEvent, state: State | undefined) => progressOf(each, { state, dataSets: [] });

describe("an event", () => {
  const connected = event("connected");
  const disconnected = event("disconnected", { type: "account.disconnected" });

  it("is stored while nothing has followed, also where others of its subject were judged", () => {
    expect(progress(connected, undefined)).toEqual({ state: "stored" });
    expect(progress(disconnected, judgeAll([connected]))).toEqual({ state: "stored" });
  });

  it("is done once it is judged, with its outcome and the version that it led to", () => {
    expect(progress(connected, judgeAll([connected]))).toEqual({
      state: "done",
      outcome: "applied",
      version: 1,
    });
  });

  it("keeps no outcome once another of its subject is judged", () => {
    const again = event("again", { type: "account.updated" });
    expect(progress(connected, judgeAll([connected, again]))).toEqual({ state: "done" });
  });

  it("is being asked about where it contradicts, until the provider has answered", () => {
    const state = judgeAll([connected, disconnected]);
    expect(progress(disconnected, state)).toMatchObject({ state: "asking", outcome: "unconfirmed" });
    expect(progress(connected, state)).toEqual({ state: "done" });
    const answered = settle(state, 2, { found: true, connected: false }, { at: new Date(0) });
    expect(progress(disconnected, answered)).toEqual({ state: "done" });
  });

  it("is past once its subject has judged twenty others", () => {
    const others = Array.from({ length: 20 }, (_, index) =>
      event(`other-${index}`, { time: `2026-01-${index + 10}` }),
    );
    expect(progress(connected, judgeAll([connected, ...others.slice(1)]))).toEqual({ state: "done" });
    expect(progress(connected, judgeAll([connected, ...others]))).toEqual({ state: "past" });
  });
});

describe("an endpoint's event", () => {
  const told = event("told", { type: "endpoint.updated", endpoint: "income", eventId: "e" });
  const data = want(undefined, account, { endpoint: "income" }, { event: told, receipts: 1 });
  if (data === undefined) throw new Error("the event wants nothing");
  const progressWith = (dataSet: object) =>
    progressOf(told, { state: undefined, dataSets: [{ ...data, ...dataSet }] }).state;

  it("is stored until its data is wanted", () => {
    expect(progressOf(told, { state: judgeAll([event("connected")]), dataSets: [] })).toEqual({
      state: "stored",
    });
    expect(progressWith({ endpoint: "profile" })).toBe("stored");
  });

  it("is fetching while more was wanted of its data than was read, and then done", () => {
    expect(progressWith({})).toBe("fetching");
    expect(progressWith({ done: 1 })).toBe("done");
  });

  it("is found by the data set that judged it, whatever dates that is of", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const other = { ...data, judged: ["other.1"], wanted: 5 };
    const dataSets = [other, { ...data, range, done: 1 }];
    expect(progressOf(told, { state: undefined, dataSets }).state).toBe("done");
  });

  it("waits for nothing where it says that there is no data yet", () => {
    const none = { ...told, dataAvailable: false };
    const wanted = want(
      data,
      account,
      { endpoint: "income" },
      { event: { ...none, id: "none".padEnd(43, "-") }, receipts: 1 },
    );
    if (wanted === undefined) throw new Error("the event is not judged");
    expect(progressOf(none, { state: undefined, dataSets: [wanted] }).state).toBe("done");
  });
});
