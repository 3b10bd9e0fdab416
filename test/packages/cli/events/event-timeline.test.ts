import { describe, expect, it } from "vitest";
import type { SubjectRecords } from "../../../../domain/event/event-progress.ts";
import type { IncomeEvent } from "../../../../domain/event/events.ts";
import { applyEvent, type State } from "../../../../domain/state/state.ts";
import { eventTimeline } from "../../../../packages/cli/events/event-timeline.ts";
import { documentRead, receiptsOf } from "../../../domain/samples.ts";

const event = (name: string, type: IncomeEvent["type"]): IncomeEvent => ({
  id: name.padEnd(43, "-"),
  kind: "accounts",
  receivedAt: "2026-01-01T00:00:00.000Z",
  type,
  accountId: "a",
  userId: "u",
});
const connected = event("connected", "account.connected");
const processedBy = (...events: readonly IncomeEvent[]): SubjectRecords => ({
  state: events.reduce<State | undefined>((state, each) => applyEvent(state, each, 1) ?? state, undefined),
  documents: [],
});
const subscribers = [{ name: "all" }, { name: "users", types: ["user.*"] }];
const keptUntil = new Date("2026-01-31T00:00:00.000Z");
const body = { type: "text", text: "{}" } as const;
const timeline = (each: IncomeEvent, records: SubjectRecords, receipts = 1) =>
  eventTimeline({ event: each, receipts: receiptsOf(receipts) }, { body, keptUntil }, records, {
    subscribers,
    deadLetters: [],
  });
const step = (name: string, steps: ReturnType<typeof timeline>) =>
  steps.find(({ step: one }) => one === name);

describe("the timeline of an event", () => {
  it("begins with the time and number of its receipts, and its storage and expiry", () => {
    const [received, stored] = timeline(connected, processedBy(connected), 3);
    expect(received?.detail).toBe("2026-01-01T00:00:00.000Z, 3 times");
    expect(stored?.detail).toBe("with user/u, kept until 2026-01-31T00:00:00.000Z");
    const [found] = timeline({ ...connected, reconciled: true }, processedBy(connected));
    expect(found?.detail).toContain("by reconciliation");
  });

  it("shows outcome and version of the latest event of its subject", () => {
    expect(step("processed", timeline(connected, processedBy(connected)))).toEqual({
      step: "processed",
      done: true,
      detail: "applied, which made version 1 of account/a",
    });
    const overtaken = step(
      "processed",
      timeline(connected, processedBy(connected, event("other", "account.updated"))),
    );
    expect(overtaken).toMatchObject({
      done: true,
      detail: expect.stringContaining("latest event of account/a"),
    });
  });

  it("does not claim that an event of data is published while that is still to be read", () => {
    const announced = { ...event("announced", "endpoint.updated"), endpoint: "income" };
    const unread = timeline(announced, { state: undefined, documents: [] });
    expect(step("fetched", unread)).toEqual({ step: "fetched", done: false, detail: "not yet" });
    expect(step("published", unread)).toEqual({ step: "published", detail: "to all" });
    const read = timeline(announced, {
      state: undefined,
      documents: [documentRead(undefined, "d", { asOf: 2 })],
    });
    expect(step("published", read)).toMatchObject({ done: true });
  });

  it("ends with the subscribers whose filters accept it, if any", () => {
    expect(step("published", timeline(connected, processedBy(connected)))).toMatchObject({
      done: true,
      detail: "to all",
    });
    expect(step("published", timeline(connected, processedBy()))).toMatchObject({
      done: false,
      detail: "to all",
    });
    const unwanted = eventTimeline(
      ...([{ event: connected, receipts: receiptsOf() }, undefined, processedBy(connected)] as const),
      { subscribers: subscribers.slice(1), deadLetters: [] },
    );
    expect(step("published", unwanted)?.detail).toContain("to no subscriber");
  });
});
