import type { Call } from "@income-events/sandbox/api/call-log.ts";
import { describe, expect, it } from "vitest";
import { countCalls } from "../../../proof/outage/count.ts";

const called = (...seconds: readonly number[]): readonly Call[] =>
  seconds.map((second) => ({
    method: "GET",
    path: "/",
    status: 503,
    at: new Date(second * 1000),
    authorized: true,
    answer: "",
  }));

describe("calls", () => {
  it("are counted as made during the outage from its beginning until its end", () => {
    const calls = called(9.9, 10, 15, 19.9, 20, 25);
    expect(countCalls(calls, 10_000, 20_000).callsDuringOutage).toBe(3);
  });

  it("of the whole run count for its busiest minute, before the outage and after it too", () => {
    const calls = called(0, 1, 2, 100, 200, 201, 202, 203);
    expect(countCalls(calls, 90_000, 110_000).maxCallsPerMinute).toBe(4);
  });
});
