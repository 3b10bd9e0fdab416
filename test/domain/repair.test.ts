import { describe, expect, it } from "vitest";
import { fetched, want } from "../../domain/data-set.ts";
import { needsRepair, repairsOfEvent } from "../../domain/repair.ts";
import { account, at, eventOf, judged, minute } from "./samples.ts";

const period = { since: minute(10), until: minute(20) };
const eventAt = (time: number) => ({ ...eventOf("account.connected"), receivedAt: minute(time) });

describe("what a repair of a period is about", () => {
  it.each([
    [9, false],
    [10, true],
    [19, true],
    [20, false],
  ])("an event that was received in minute %i: %s", (time, isWanted) => {
    const event = { ...eventAt(time), time: minute(time) };
    expect(needsRepair({ of: "event", event, receipts: 3 }, period)).toBe(isWanted);
    const state = judged([event]);
    expect(needsRepair({ of: "state", before: undefined, after: state }, period)).toBe(isWanted);
  });

  it("an event of any time whose bytes came again and can be a true repeat, and of it that repeat alone", () => {
    const stored = { of: "event", event: eventAt(1), receipts: 2 } as const;
    expect(needsRepair(stored, period)).toBe(true);
    expect(needsRepair({ ...stored, receipts: 1 }, period)).toBe(false);
    expect(repairsOfEvent(stored, undefined, period)).toEqual([stored]);
    expect(repairsOfEvent(stored, undefined, {})).toEqual([{ ...stored, receipts: 1 }, stored]);
  });

  it("a state of any time that waits for an answer, and a data set of which more is wanted than done", () => {
    const state = judged([{ ...eventAt(1), time: minute(1) }]);
    expect(
      needsRepair({ of: "state", before: undefined, after: { ...state, unconfirmed: true } }, period),
    ).toBe(true);
    const event = { ...eventOf("endpoint.updated", { endpoint: "income" }), receivedAt: minute(1) };
    const wanted = want(undefined, account, { endpoint: "income" }, event, 1);
    if (wanted === undefined) throw new Error("nothing was wanted");
    expect(needsRepair({ of: "data", before: undefined, after: wanted }, period)).toBe(true);
    const done = fetched(wanted, 1, "content", at);
    if (done === undefined) throw new Error("nothing was fetched");
    expect(needsRepair({ of: "data", before: undefined, after: done }, period)).toBe(false);
    const fetchedAt = minute(15);
    expect(needsRepair({ of: "data", before: undefined, after: { ...done, fetchedAt } }, period)).toBe(true);
  });
});
