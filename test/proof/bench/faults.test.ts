import { describe, expect, it } from "vitest";
import { faultAt } from "../../../proof/bench/faults/schedule.ts";
import { billedRequests } from "../../../proof/bench/measure/billed-requests.ts";

describe("the schedule of faults", () => {
  const calls = Array.from({ length: 100 }, (_, index) => index + 1);

  it("is the same for every implementation, and has each fault among a hundred calls", () => {
    const found = new Set(calls.map((call) => faultAt(call)));
    expect([...found].sort()).toEqual(
      [undefined, "throttled", "failed", "cut", "answerLost", "killedBefore", "killedAfter"].sort(),
    );
  });

  it("throttles more calls in a row than the SDK tries by itself", () => {
    const throttled = calls.filter((call) => faultAt(call) === "throttled");
    expect(throttled.slice(0, 4)).toEqual([10, 11, 12, 13]);
  });
});

describe("a request to SQS", () => {
  it.each([
    [["short"], 1],
    [["a".repeat(65_536)], 1],
    [["a".repeat(65_536), "b"], 2],
    [["é".repeat(65_536)], 2],
    [[], 1],
  ])("is billed for each 64 KB of its messages: %#", (bodies, requests) => {
    expect(billedRequests(bodies)).toBe(requests);
  });
});
