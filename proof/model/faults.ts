import { type Choose, everyChoice } from "./choices.ts";
import { expectAlways, expectAtRest } from "./promises.ts";
import { accountIds, Provider, type Thing } from "./provider.ts";
import { World } from "./simulation.ts";
import { settle } from "./wait-until-idle.ts";

const [first, second] = accountIds;
type Story = readonly (readonly (readonly [string, Thing, boolean])[])[];

/** Each part is lived through before the next begins, so that contradictions meet what is known. */
export const stories = {
  start: [[[first, "connect", false]]],
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
} satisfies Readonly<Record<string, Story>>;
const strikes = ["none", "fails", "answer is lost", "is killed"] as const;

/**
 * Lives a story through with every step struck by every fault: it fails before its effect, it is told to have failed
 * after its effect, or its process is killed before it.
 * @param mostFaults so many of its steps at once
 * @param tellsStarted see the provider
 * @returns how many runs that were
 * @throws where a promise is broken
 */
export function strikeEachStep(story: Story, mostFaults: number, tellsStarted = true): Promise<number> {
  return everyChoice(async (choose) => {
    const world = new World(new Provider(true, tellsStarted));
    let left = mostFaults;
    world.refresh();
    for (const part of story) {
      for (const [accountId, thing, isOwn] of part) world.provider.happen(accountId, thing, isOwn);
      left = await liveOn(world, left, choose);
    }
    await settle(world);
    expectAtRest(world);
  });
}

/** @returns how many faults are left */
async function liveOn(world: World, faults: number, choose: Choose): Promise<number> {
  let left = faults;
  await world.pause();
  for (;;) {
    const [turn] = world.processes.steps;
    const [action] = world.usual();
    if (action === undefined) return left;
    if (turn === undefined) action.run();
    else {
      const strike = strikes[left === 0 ? 0 : choose(strikes.length)] ?? "none";
      if (strike === "is killed") world.processes.kill(turn.process);
      else turn.step.go(strike);
      if (strike !== "none") left -= 1;
    }
    await world.pause();
    expectAlways(world);
  }
}
