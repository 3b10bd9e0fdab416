import { describe, expect, it } from "vitest";
import { parts } from "../../proof/bench/implementations.ts";
import { countImplementation } from "../../proof/cost/count-implementation.ts";
import { readCounts, type Used } from "../../proof/cost/counts.ts";

/** What follows from the events alone; a task that comes a moment later or earlier may cost a call more or less. */
const ofEvents = (used: Used) => ({
  receivers: used.invocations.receive,
  writeUnits: used.writeUnits,
  tableRequests: used.tableRequests,
  providerCalls: used.providerCalls,
  logBytes: used.logBytes,
  expiringBytes: used.expiringBytes,
  stayingBytes: used.stayingBytes,
});

/** What depends on how full batches are, and so on the moment at which a task comes back. */
const ofBatches = (used: Used) => ({
  invocations: parts.reduce((sum, part) => sum + used.invocations[part], 0),
  sqsRequests: used.sqsRequests,
  readUnits: used.readUnits,
});

describe("the counts that the documents are made of", () => {
  it.each(["ours", "plain"] as const)(
    "are what %s uses today; else: npm run proof -- cost && npm run docs",
    async (implementation) => {
      const recorded = readCounts().loads.usual.sides[implementation];
      const { used } = await countImplementation(implementation, ["usual"], () => undefined);
      const today = used.get("usual");
      if (today === undefined) throw new Error("nothing was counted");
      for (const [figures, tolerance] of [
        [ofEvents, 0.05],
        [ofBatches, 0.2],
      ] as const) {
        for (const [name, count] of Object.entries(figures(today))) {
          const before = Object.entries(figures(recorded)).find(([other]) => other === name)?.[1] ?? 0;
          const moved = Math.abs(count - before) / Math.max(1, before);
          expect(moved, `${name}: ${count}, recorded ${before}`).toBeLessThanOrEqual(tolerance);
        }
      }
    },
  );
});
