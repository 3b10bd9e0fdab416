import { expect, it } from "vitest";
import { countImplementation } from "../../../proof/bench/price/count.ts";
import { type Counts, readCounts } from "../../../proof/bench/price/counts.ts";

/** Counts that depend on the events alone: a task's timing may cost a call more or less. */
const ofEvents = ["receiveInvocations", "writeUnits", "tableRequests", "providerCalls", "logBytes"] as const;
/** Counts that depend on the size of batches. */
const ofBatches = ["storeInvocations", "sqsRequests", "readUnits"] as const;

it.each(["ours", "plain"] as const)(
  "the recorded counts are what %s uses today; else: npm run bench -- --rows price --document",
  async (implementation) => {
    const before = readCounts().rows.get(`usual/${implementation}`);
    const counted = await countImplementation(implementation, ["usual"], () => undefined);
    const today = counted.get(`usual/${implementation}`);
    if (before === undefined || today === undefined) throw new Error("nothing was counted");
    const requireNear = (names: readonly (keyof Counts)[], tolerance: number) => {
      for (const name of names) {
        const moved = Math.abs(today[name] - before[name]) / Math.max(1, before[name]);
        expect(moved, `${name}: ${today[name]}, recorded ${before[name]}`).toBeLessThanOrEqual(tolerance);
      }
    };
    requireNear(ofEvents, 0.05);
    requireNear(ofBatches, 0.2);
  },
);
