import { describe, expect, it } from "vitest";
import { fromNow, spanText } from "../../../../packages/cli/core/spans.ts";

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
});
