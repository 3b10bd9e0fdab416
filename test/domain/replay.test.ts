import { describe, expect, it } from "vitest";
import { retellEvent } from "../../domain/replay.ts";
import { eventOf, judged, minute } from "./samples.ts";

const events = (count: number) =>
  Array.from({ length: count }, (_, index) => eventOf("account.updated", { time: minute(index) }));

describe("an event's message in a replay", () => {
  it("is still to come where its subject is known and has not judged it", () => {
    const state = judged(events(3));
    const late = eventOf("account.connected", { time: minute(9) });
    expect(retellEvent(late, { state, dataSets: [] }, "urn:test")).toBeUndefined();
    expect(retellEvent(late, { state: undefined, dataSets: [] }, "urn:test")).toBeUndefined();
  });

  it("is told where its subject has judged so many since that it was forgotten", () => {
    const [first, ...others] = events(30);
    if (first === undefined) throw new Error("there is no event");
    const state = judged([first, ...others]);
    expect(retellEvent(first, { state, dataSets: [] }, "urn:test")).toMatchObject({
      message: { id: first.id },
      moment: first.receivedAt,
    });
  });
});
