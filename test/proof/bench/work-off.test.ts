import fc, { type Scheduler } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Step, workOff, workSideBySide } from "../../../proof/bench/drive/work-off.ts";

/** Functions in a row: each takes what it has, and hands it on to the next; deliveries bring each of them more. */
function rowOf(lengths: readonly number[], work: () => Promise<unknown>) {
  const left = lengths.map(() => 0);
  const handOn = (index: number, count: number) => {
    if (index < left.length) left[index] = (left[index] ?? 0) + count;
  };
  const steps = lengths.map(
    (_, index): Step =>
      async () => {
        let isBusy = false;
        for (;;) {
          await work();
          if (left[index] === 0) return isBusy;
          isBusy = true;
          handOn(index, -1);
          await work();
          handOn(index + 1, 1);
        }
      },
  );
  const deliver = async () => {
    for (const [index, length] of lengths.entries()) {
      for (let more = length; more > 0; more -= 1) {
        await work();
        handOn(index, 1);
      }
    }
  };
  return { left, steps, deliver };
}

describe("functions that work off what is there", () => {
  const lengths = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 4 });
  /** Moments pass in any order, and so many that whoever has not ended by then never ends. */
  const workOf = (scheduler: Scheduler) => {
    let left = 5_000;
    return () => {
      left -= 1;
      return scheduler.schedule(left > 0 ? Promise.resolve() : Promise.reject(new Error("it never ends")));
    };
  };

  it("end when nothing is left, one after the other", async () => {
    await fc.assert(
      fc.asyncProperty(lengths, async (each) => {
        const { left, steps, deliver } = rowOf(each, () => Promise.resolve());
        await deliver();
        await workOff(steps);
        expect(left.every((count) => count === 0)).toBe(true);
      }),
    );
  });

  it("end when nothing is left, side by side, however long each of them takes", async () => {
    await fc.assert(
      fc.asyncProperty(lengths, fc.scheduler(), async (each, scheduler) => {
        const work = workOf(scheduler);
        const { left, steps, deliver } = rowOf(each, work);
        await scheduler.waitFor(workSideBySide(deliver(), steps, work));
        expect(left.every((count) => count === 0)).toBe(true);
      }),
    );
  });

  it("end, with the reason, where one of them fails", async () => {
    const fails: Step = () => Promise.reject(new Error("broken"));
    await expect(workSideBySide(Promise.resolve(), [fails], () => Promise.resolve())).rejects.toThrow(
      "broken",
    );
  });
});
