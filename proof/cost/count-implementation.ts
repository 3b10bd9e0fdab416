import { type RunningImplementation, startImplementation } from "../bench/drive/running-implementation.ts";
import type { Implementation } from "../bench/implementations.ts";
import { type Answers, startProvider, usual } from "../bench/provider.ts";
import { workload } from "../bench/workload.ts";
import { countLoad } from "./count-load.ts";
import type { LoadName, Used } from "./counts.ts";
import { loads, warmUp } from "./loads.ts";
import { countWaits } from "./waits.ts";

export type ImplementationCounts = {
  readonly used: ReadonlyMap<LoadName, Used>;
  readonly memoryMb: RunningImplementation["memoryMb"];
};

/** Longer than a call of AWS, so that calls of one batch are under way at once. */
const delayInMillis = 20;

/** Starts a side by itself, and counts what it uses for each of the loads. */
export async function countImplementation(
  implementation: Implementation,
  names: readonly LoadName[],
  onProgress: (step: string) => void,
): Promise<ImplementationCounts> {
  const answers: Answers = { ...usual, delayInMillis };
  await using provider = await startProvider(() => undefined, answers);
  onProgress(`${implementation}: starting`);
  await using running = await startImplementation(implementation, provider);
  const beside = { waits: countWaits(running), provider };
  await countLoad(running, workload(warmUp), "batches", beside);
  const used = new Map<LoadName, Used>();
  for (const name of names) {
    const { items, arrival, ...shape } = loads[name];
    answers.items = items;
    used.set(name, await countLoad(running, workload(shape), arrival, beside));
    onProgress(`${implementation}: ${name}`);
  }
  return { used, memoryMb: running.memoryMb };
}
