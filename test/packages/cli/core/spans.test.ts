import { describe, expect, it } from "vitest";
import { fromNow, periodAgo, spanText } from "../../../../packages/cli/core/spans.ts";

describe("a span of time", () => {
  it.each([
    [0, "0s"],
    [59.6, "1m"],
    [725, "12m 5s"],
    [3_600, "1h"],
    [3_605, "1h"],
    [90_000, "1d 1h"],
    [14 * 86_400, "14d"],
  ])("of %d seconds is %s", (seconds, text) => {
    expect(spanText(seconds)).toBe(text);
  });

  it("is counted from now, backwards and ahead", () => {
    const now = new Date("2026-01-02T00:00:00Z");
    expect(fromNow(new Date("2026-01-01T23:00:00Z"), now)).toBe("1h ago");
    expect(fromNow(new Date("2026-01-02T00:12:00Z"), now)).toBe("in 12m");
  });

  it.each([
    ["2026-01-01T12:00:00Z", "2026-01-01T12:00:16Z", "within the last minute"],
    ["2026-01-01T12:00:00Z", "2026-01-01T12:01:06Z", "within the last 2 minutes"],
    ["2026-01-01T12:00:00Z", "2026-01-01T12:02:07Z", "1m ago"],
    ["2026-01-01T12:00:00Z", "2026-01-01T14:59:59Z", "2h 58m ago"],
    ["2026-01-01T12:00:00Z", "2026-01-01T15:30:00Z", "2h ago"],
    ["2026-01-01T12:00:00Z", "2026-01-03T12:30:00Z", "1d 23h ago"],
  ])(
    "claims no more than is measured: what happened in the period from %s was, at %s, %s",
    (at, now, text) => {
      expect(periodAgo(new Date(at), new Date(now))).toBe(text);
    },
  );
});
