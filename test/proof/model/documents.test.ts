import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { announce, drive, waitUntilIdle } from "../../../proof/model/drive.ts";
import { expectAlways, expectAtRest } from "../../../proof/model/promises.ts";
import { accountIds, Provider } from "../../../proof/model/provider.ts";
import { Simulation } from "../../../proof/model/simulation.ts";
import { liveUndisturbed, undisturbedTimes } from "../../../proof/model/undisturbed.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";

const second = 1_000;
const hour = 3_600 * second;
const [account, accountWithPages] = accountIds;
const [numRuns = 0] = shareOfTier([20], [100]);

async function comeToRest(simulation: Simulation): Promise<void> {
  await waitUntilIdle(simulation);
  expectAtRest(simulation);
}

describe("documents are read", () => {
  it("with at most 5 % more calls than the minimum, if documents change every 15 seconds", async () => {
    const calls = { made: 0, excess: 0 };
    await fc.assert(
      fc.asyncProperty(undisturbedTimes, async (time) => {
        const { made, excess } = await liveUndisturbed(time);
        calls.made += made;
        calls.excess += excess;
      }),
      { numRuns },
    );
    expect(calls.excess).toBeLessThanOrEqual(0.05 * (calls.made - calls.excess));
  });

  it("with one call for events whose tasks wait together, even if the write's answer is lost", async () => {
    const simulation = new Simulation(new Provider(false));
    for (const _ of [1, 2, 3]) await announce(simulation, account);
    await drive(simulation, (what) => what !== "fetch writes DOCUMENT");
    for (const { step } of simulation.processes.steps) step.go("answer is lost");
    await comeToRest(simulation);
    expect(simulation.reads.made).toBe(1);
  });

  it("with one call for tasks that come while one of their document waits", async () => {
    const simulation = new Simulation(new Provider(false));
    await announce(simulation, account);
    simulation.provider.isDown = true;
    await drive(simulation, () => true);
    for (const _ of [1, 2]) await announce(simulation, account);
    expect(simulation.queue("fetch").visible(simulation.queueTime)).toEqual([]);
    await comeToRest(simulation);
    expect(simulation.reads.made).toBe(1);
  });
});

describe("an outage of the provider", () => {
  /** Simulates an outage of the provider of this many hours. */
  async function liveThroughOutage(hours: number): Promise<Simulation> {
    const simulation = new Simulation(new Provider(false));
    for (const id of [account, account, accountWithPages]) await announce(simulation, id);
    simulation.provider.isDown = true;
    const end = simulation.time + hours * hour;
    while (simulation.time < end) {
      await drive(simulation, () => true);
      expectAlways(simulation);
      if (simulation.untilNextVisible === undefined) break;
      simulation.pass(simulation.untilNextVisible);
    }
    return simulation;
  }

  it("of 240 hours makes no dead letters, and the documents are read when it ends", async () => {
    const simulation = await liveThroughOutage(240);
    expect(simulation.queue("fetch").deadLetters).toEqual([]);
    await comeToRest(simulation);
  });

  it("of 15 days makes dead letters with a reason, which can be redriven when it ends", async () => {
    const simulation = await liveThroughOutage(15 * 24);
    const reasons = simulation.queue("fetch").deadLetters.map(({ reason }) => reason);
    expect(reasons).toEqual(Array(3).fill(expect.stringMatching(/given up after/)));
    await comeToRest(simulation);
  });
});
