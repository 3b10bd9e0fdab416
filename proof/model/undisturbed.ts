import fc from "fast-check";
import { waitUntilIdle } from "./drive.ts";
import { expectAtRest } from "./promises.ts";
import { accountIds, Provider } from "./provider.ts";
import { Simulation } from "./simulation.ts";

/** A change some time after the previous one: new data with its event, or an earlier event again. */
const happening = fc.record({
  afterMillis: fc.nat({ max: 15_000 }),
  accountId: fc.constantFrom(...accountIds),
  isOwn: fc.boolean(),
  isAgain: fc.boolean(),
});

/**
 * A period without faults: each of two documents changes every 15 seconds on average, while each step of the
 * pipeline takes some time.
 */
export const undisturbedTimes = fc.tuple(
  fc.integer({ min: 10, max: 200 }),
  fc.array(happening, { minLength: 60, maxLength: 60 }),
);

type Undisturbed = typeof undisturbedTimes extends fc.Arbitrary<infer T> ? T : never;

/**
 * Runs such a period.
 * @returns the reads of documents
 * @throws if a promise is broken
 */
export async function liveUndisturbed([stepMillis, happened]: Undisturbed) {
  const simulation = new Simulation(new Provider(false));
  const { provider, reads } = simulation;
  for (const [index, { afterMillis, accountId, isOwn, isAgain }] of happened.entries()) {
    await workUntil(simulation, simulation.time + afterMillis, stepMillis);
    const known = isAgain ? provider.webhooks[index - 2] : undefined;
    if (known === undefined) provider.happen(accountId, "data", isOwn);
    else simulation.deliver(known);
  }
  await waitUntilIdle(simulation);
  expectAtRest(simulation);
  return reads;
}

async function workUntil(simulation: Simulation, end: number, stepMillis: number): Promise<void> {
  while (simulation.time < end) {
    await simulation.pause();
    const [action] = simulation.usual();
    simulation.pass(
      Math.min(end - simulation.time, action === undefined ? end - simulation.time : stepMillis),
    );
    action?.run();
  }
}
