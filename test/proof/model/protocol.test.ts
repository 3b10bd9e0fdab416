import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories, live } from "../../../proof/model/commands.ts";
import { failEachStep, scenarios } from "../../../proof/model/faults.ts";
import { raceEachWay, races } from "../../../proof/model/races.ts";
import { callInHistory, rateHistories } from "../../../proof/model/rate.ts";
import type { TableMutation } from "../../../proof/model/table.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";

const [numRuns = 0] = shareOfTier([100], [1_500]);
/** Milliseconds of SQS's clock ahead of DynamoDB's. */
const clockGaps = shareOfTier([-900], [0, 900, -900]);

describe("receive, store, relay, fetch and refresh keep every promise", () => {
  it("in any history of events, repeats, faults, kills and waits", async () => {
    await fc.assert(
      fc.asyncProperty(histories, (history) => live(history)),
      { numRuns },
    );
  });

  it("whichever step fails, loses its answer, or is where its process is killed", async () => {
    expect(await failEachStep(scenarios.short, 1)).toBeGreaterThan(100);
  });

  it("if no event answers the start of a fetch, whichever step fails", async () => {
    expect(await failEachStep(scenarios.start, 1, false)).toBeGreaterThan(50);
  });

  it("and call the provider within its rate, however environments start, freeze, crash and are replaced", async () => {
    await fc.assert(fc.asyncProperty(rateHistories, callInHistory), { numRuns });
  });

  const names = Object.keys(races).filter((name): name is keyof typeof races => name in races);
  it.each(names)("however their steps interleave: %s", async (race) => {
    for (const queueAhead of clockGaps) expect(await raceEachWay(race, 2, { queueAhead })).toBeGreaterThan(2);
  });
});

describe("the promises notice a table that does not keep its conditions:", () => {
  it.each<[TableMutation, keyof typeof races]>([
    ["a receipt is inserted again", "two consumers with the same event"],
    ["a receipt is inserted again", "two consumers with the same event, of which one has a new mapping"],
    ["an update overwrites", "the relay, and one that Lambda took for dead, with the same batch"],
    ["a document overwrites", "a fetch of data, and newer data that is fetched"],
    ["readiness overwrites", "a deadline, and the last document, which comes at it"],
  ])("%s", async (mutation, race) => {
    await expect(raceEachWay(race, 2, { mutation })).rejects.toThrow();
  });
});
