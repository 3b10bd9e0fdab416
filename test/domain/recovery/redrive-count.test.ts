import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextRedriveCount, readRedriveCount } from "../../../domain/recovery/redrive-count.ts";

describe("how often a dead letter was redriven", () => {
  it("is counted, and names the run that redrove it last", () => {
    const first = nextRedriveCount(undefined, "run-a");
    expect(readRedriveCount(first)).toEqual({ count: 1, run: "run-a" });
    expect(readRedriveCount(nextRedriveCount(first, "run-b"))).toEqual({ count: 2, run: "run-b" });
  });

  it("is nothing where the attribute is none of ours, whatever it says (law)", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d{1,9} \S+$/.test(text));
        expect(readRedriveCount(text)).toEqual({ count: 0, run: undefined });
      }),
    );
    expect(readRedriveCount(undefined)).toEqual({ count: 0, run: undefined });
  });
});
