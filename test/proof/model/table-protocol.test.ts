import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { liveUndisturbed, undisturbedTimes } from "../../../proof/model/table/calls.ts";
import { histories, live } from "../../../proof/model/table/histories.ts";
import { failEachStep, raceEachWay, races } from "../../../proof/model/table/races.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";

const [numRuns = 0] = shareOfTier([1_500], [15_000]);

describe("store, relay, fetch, erase and repair keep every law of the table", () => {
  it("in any history of events, repeats, faults, kills, waits, outages, replays, redrives and erasures", () => {
    fc.assert(
      fc.property(histories, (history) => void live(history)),
      { numRuns },
    );
  });

  it("with at most 5 % more calls than the least possible, where documents change every 15 seconds", () => {
    const calls = { made: 0, excess: 0 };
    fc.assert(
      fc.property(undisturbedTimes, (time) => {
        const { provider, excess } = liveUndisturbed(time);
        calls.made += provider.reads;
        calls.excess += excess;
      }),
      { numRuns: numRuns / 15 },
    );
    expect(calls.excess).toBeLessThanOrEqual(0.05 * (calls.made - calls.excess));
  });

  it("whichever step fails, loses its answer, or is where its process is killed", async () => {
    expect(await failEachStep(1)).toBeGreaterThan(200);
  });

  const names = Object.keys(races).filter((name): name is keyof typeof races => name in races);
  it.each(names)("however their steps interleave, and whichever clock is ahead: %s", async (race) => {
    for (const gap of [0, 900, -900]) expect(await raceEachWay(race, 2, gap)).toBeGreaterThan(2);
  });
});
