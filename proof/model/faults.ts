import { type Choose, everyChoice } from "./choices.ts";
import { waitUntilIdle } from "./drive.ts";
import { expectAlways, expectAtRest } from "./promises.ts";
import { accountIds, Provider, type Thing } from "./provider.ts";
import { Simulation } from "./simulation.ts";
import type { OptionalSettings } from "./surroundings.ts";

const [first, second] = accountIds;
type Scenario = readonly (readonly (readonly [string, Thing, boolean])[])[];

/** Each part ends before the next begins, so that contradictions meet known state. */
export const scenarios = {
  start: [[[first, "connect", false]]],
  ready: [
    [
      [first, "connect", false],
      [first, "profile", true],
    ],
  ],
  short: [
    [
      [first, "connect", false],
      [first, "nonsense", false],
    ],
    [[first, "disconnect", false]],
  ],
  long: [
    [
      [first, "connect", false],
      [second, "connect", true],
      [first, "data", false],
      [first, "nonsense", false],
    ],
    [
      [first, "disconnect", false],
      [second, "delete", false],
      [first, "data", true],
    ],
    [[first, "connect", false]],
  ],
} satisfies Readonly<Record<string, Scenario>>;
const faultKinds = ["none", "fails", "answer is lost", "is killed"] as const;

/**
 * Runs a scenario with every fault at every step: fails before its effect, reports failure after its effect,
 * or is killed before it.
 * @param maxFaults maximum faults per run
 * @param announcesStarted see the provider
 * @param settings see the simulation
 * @returns the number of runs
 * @throws if a promise is broken
 */
export function failEachStep(
  scenario: Scenario,
  maxFaults: number,
  announcesStarted = true,
  settings: OptionalSettings = {},
): Promise<number> {
  return everyChoice(async (choose) => {
    const simulation = new Simulation(new Provider(true, announcesStarted), { settings });
    let left = maxFaults;
    simulation.refresh();
    for (const part of scenario) {
      for (const [accountId, thing, isOwn] of part) simulation.provider.happen(accountId, thing, isOwn);
      left = await liveOn(simulation, left, choose);
    }
    await waitUntilIdle(simulation);
    expectAtRest(simulation);
  });
}

/** @returns how many faults are left */
async function liveOn(simulation: Simulation, faults: number, choose: Choose): Promise<number> {
  let left = faults;
  await simulation.pause();
  for (;;) {
    const [turn] = simulation.processes.steps;
    const [action] = simulation.usual();
    if (action === undefined) return left;
    if (turn === undefined) action.run();
    else {
      const fault = faultKinds[left === 0 ? 0 : choose(faultKinds.length)] ?? "none";
      if (fault === "is killed") simulation.processes.kill(turn.process);
      else turn.step.go(fault);
      if (fault !== "none") left -= 1;
    }
    await simulation.pause();
    expectAlways(simulation);
  }
}
