import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pace } from "../../../../packages/cli/recovery/replay.ts";

describe("a pace", () => {
  it("lets no more through than its rate and one batch, over any time, whatever was not used before", async () => {
    const batches = fc.array(fc.record({ count: fc.integer({ min: 0, max: 10 }), idle: fc.nat(5_000) }), {
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(batches, fc.integer({ min: 1, max: 500 }), async (some, perSecond) => {
        let now = 1_000;
        const through: { at: number; count: number }[] = [];
        const wait = pace(
          perSecond,
          () => now,
          async (milliseconds) => {
            now += milliseconds;
          },
        );
        for (const { count, idle } of some) {
          now += idle;
          await wait(count);
          through.push({ at: now, count });
        }
        for (const [first, { at: begin }] of through.entries()) {
          let sum = 0;
          for (const { at, count } of through.slice(first)) {
            expect(sum).toBeLessThanOrEqual(((at - begin) / 1000) * perSecond + 1e-6);
            sum += count;
          }
        }
      }),
    );
  });

  it("does not wait if there is room", async () => {
    let slept = 0;
    const wait = pace(
      10,
      () => 0,
      async (milliseconds) => {
        slept += milliseconds;
      },
    );
    await wait(5);
    expect(slept).toBe(0);
    await wait(5);
    expect(slept).toBe(500);
  });
});
