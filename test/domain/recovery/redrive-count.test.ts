import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextReturns, readReturns } from "../../../domain/recovery/redrive-count.ts";

describe("how often a letter was redriven", () => {
  it("is counted, and names the run that redrove it last", () => {
    const first = nextReturns(undefined, "run-a");
    expect(readReturns(first)).toEqual({ count: 1, run: "run-a" });
    expect(readReturns(nextReturns(first, "run-b"))).toEqual({ count: 2, run: "run-b" });
  });

  it("is nothing where the attribute is none of ours, whatever it says (law)", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d{1,9} \S+$/.test(text));
        expect(readReturns(text)).toEqual({ count: 0, run: undefined });
      }),
    );
    expect(readReturns(undefined)).toEqual({ count: 0, run: undefined });
  });
});
