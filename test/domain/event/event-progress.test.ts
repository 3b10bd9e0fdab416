import { describe, expect, it } from "vitest";
import { progressOf } from "../../../domain/event/event-progress.ts";
import type { EventAttributes, IncomeEvent } from "../../../domain/event/events.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { applyEvent, applyProviderAnswer, type State } from "../../../domain/state/state.ts";
import { documentRead, receiptsOf } from "../samples.ts";

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
const progress = (each: IncomeEvent, state: State | undefined) =>
  progressOf({ event: each, receipts: receiptsOf() }, { state, documents: [] });

describe("an event", () => {
  const connected = event("connected");
  const disconnected = event("disconnected", { type: "account.disconnected" });

  it("is stored until it is processed, even if later ones of its subject were", () => {
    expect(progress(connected, undefined)).toEqual({ state: "stored" });
    expect(progress(disconnected, applyAll([connected]))).toEqual({ state: "stored" });
  });

  it("is done once it is processed, with its outcome and resulting version", () => {
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

  it("is being confirmed if it contradicts, until the provider has answered", () => {
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
  const announced = event("announced", { type: "endpoint.updated", endpoint: "income", eventId: "e" });
  const receipts = { ...receiptsOf(2), firstAt: 500, since: 1_000 };
  const progressWith = (documents: readonly Document[], facts: Partial<IncomeEvent> = {}) =>
    progressOf({ event: { ...announced, ...facts }, receipts }, { state: undefined, documents });
  const readAt = (asOf: number, name = { endpoint: "income" }) =>
    documentRead(undefined, undefined, { asOf, name });

  it("is fetching until its document was read since its last receipt, and then done", () => {
    expect(progressWith([])).toEqual({ state: "fetching", outcome: "applied", version: 500 });
    expect(progressWith([readAt(999)]).state).toBe("fetching");
    expect(progressWith([readAt(1_000)])).toEqual({ state: "done", outcome: "applied", version: 500 });
  });

  it("waits for the document of its own endpoint", () => {
    expect(progressWith([readAt(2_000, { endpoint: "profile" })]).state).toBe("fetching");
  });

  it("waits for the document of its date range, or for the whole one if ranges are not read", () => {
    const range = { start: "2026-01-01", end: "2026-01-31" };
    const dates = { dateStart: range.start, dateEnd: range.end };
    const ranged = { endpoint: "income", range };
    expect(progressWith([readAt(2_000), readAt(1, ranged)], dates).state).toBe("fetching");
    expect(progressWith([readAt(1), readAt(2_000, ranged)], dates).state).toBe("done");
    expect(progressWith([readAt(2_000)], dates).state).toBe("done");
    expect(progressWith([readAt(2_000, ranged)]).state).toBe("fetching");
  });

  it("waits for nothing if it announces that there is no data yet", () => {
    expect(progressWith([], { dataAvailable: false }).state).toBe("done");
  });
});
