import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories, live } from "../../../proof/model/table/histories.ts";
import { failEachStep, raceEachWay, races } from "../../../proof/model/table/races.ts";

describe("store, relay, fetch, erase and repair keep every law of the table", () => {
  it("in any history of events, repeats, faults, kills, waits, outages, replays, redrives and erasures", () => {
    fc.assert(
      fc.property(histories, (history) => live(history)),
      { numRuns: 1_500 },
    );
  });

  it("whichever step fails, loses its answer, or is where its process is killed", async () => {
    expect(await failEachStep(1)).toBeGreaterThan(200);
  });

  const names = Object.keys(races).filter((name): name is keyof typeof races => name in races);
  it.each(names)("however their steps interleave, and whichever clock is ahead: %s", async (race) => {
    for (const gap of [0, 900, -900]) expect(await raceEachWay(race, 2, gap)).toBeGreaterThan(2);
  });
});
