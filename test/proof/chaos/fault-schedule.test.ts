import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { faultClasses, modes, parts, shares } from "../../../proof/chaos/faults/fault-classes.ts";
import { drawn, scheduleFaults } from "../../../proof/chaos/faults/fault-schedule.ts";

const names = [
  "FetchData dynamodb:PutItem",
  "RelayChanges sqs:SendMessageBatch",
  "UsersStore dynamodb:UpdateItem",
];

describe("the schedule of faults", () => {
  it("is the same for the same seed, in whatever order the calls of different names come", () => {
    const draw = (order: readonly string[], seed: number) => {
      const ordinals = new Map<string, number>();
      return order
        .map((name) => {
          const ordinal = (ordinals.get(name) ?? 0) + 1;
          ordinals.set(name, ordinal);
          return `${name} ${ordinal} ${drawn({ seed, share: 0.5 }, name, ordinal, modes)}`;
        })
        .toSorted();
    };
    const calls = fc.array(fc.constantFrom(...names), { minLength: 20 });
    fc.assert(
      fc.property(fc.nat(), calls, (seed, order) => {
        expect(draw(order, seed)).toEqual(draw(order.toReversed(), seed));
      }),
    );
    expect(draw(Array(50).fill(names[0]), 1)).not.toEqual(draw(Array(50).fill(names[0]), 2));
  });

  it.each(shares)("lets about the share %d of all calls fail", (share) => {
    const calls = 20_000;
    const failed = Array.from({ length: calls }, (_, ordinal) =>
      drawn({ seed: 1, share }, "a call", ordinal, modes),
    );
    const count = failed.filter((mode) => mode !== undefined).length;
    expect(count / calls).toBeGreaterThan(share * 0.8);
    expect(count / calls).toBeLessThan(share * 1.2);
  });

  it.each(shares)("lets every class fire within a few calls of its part, at the share %d too", (share) => {
    const schedule = scheduleFaults(7, share);
    expect(schedule.pendingFaults()).toEqual(faultClasses);
    for (const part of parts)
      for (let call = 0; call < 20; call += 1) schedule.next(part, `a call of ${part}`, modes);
    expect(schedule.pendingFaults()).toEqual([]);
  });

  it("never gives a call a mode that it can't meet", () => {
    const schedule = scheduleFaults(3, 0.5);
    const met = Array.from({ length: 200 }, () => schedule.next("sqs", "receiving", ["fails"]));
    expect(new Set(met)).toEqual(new Set(["fails", undefined]));
    expect(schedule.pendingFaults()).toContain("sqs throttles");
  });
});
