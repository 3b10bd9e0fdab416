import { type Implementation, titles } from "../implementations.ts";
import { type Webhook, workload } from "../workload.ts";
import type { RunningImplementations } from "./running-implementations.ts";
import { type Spending, spendingOf } from "./spending.ts";

/** What each implementation spent in each round. */
export type Measured = Readonly<Record<Implementation, readonly Spending[]>>;

export type RoundsOptions = {
  /** Distinct events of one round. */
  readonly events: number;
  readonly rounds: number;
  /** Of all deliveries. */
  readonly duplicates: number;
  /** Each round has events of its own, from this one on. */
  readonly firstSeed: number;
  /** Is given each load once, before it is delivered. */
  readonly onLoad: (load: readonly Webhook[]) => void;
  readonly onProgress: (step: string) => void;
};

/**
 * Lets all implementations take the same loads in turns. Each round begins with another side: who comes later has
 * warmer caches.
 */
export async function measureRounds(
  { contenders }: RunningImplementations,
  options: RoundsOptions,
): Promise<Measured> {
  const { events, rounds, duplicates, firstSeed, onLoad, onProgress } = options;
  const found: Record<Implementation, Spending[]> = { ours: [], powertools: [], plain: [], floor: [] };
  for (let round = 0; round < rounds; round += 1) {
    const load = workload({ seed: firstSeed + round, events, duplicates });
    onLoad(load);
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const each = contenders[(turn + round) % contenders.length];
      if (each === undefined) continue;
      const { implementation } = each.running;
      found[implementation].push(await spendingOf(each.running, load, each.provider.calls));
      const share = Math.round(duplicates * 100);
      onProgress(`${share} % duplicates, round ${round + 1} of ${rounds}, ${titles[implementation]}`);
    }
  }
  return found;
}

/**
 * Adds rounds to what was measured until that is certain, or there are as many as there may be.
 * @param add measures one round more; is given its number, which counts from `rounds` on
 */
export async function addRounds<Taken>(
  first: Taken,
  { rounds, maxRounds }: { readonly rounds: number; readonly maxRounds: number },
  isCertain: (taken: Taken) => boolean,
  add: (taken: Taken, round: number) => Promise<Taken>,
): Promise<Taken> {
  let taken = first;
  for (let round = rounds; round < maxRounds && !isCertain(taken); round += 1)
    taken = await add(taken, round);
  return taken;
}
