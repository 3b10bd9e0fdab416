import { startImplementation } from "../drive/running-implementation.ts";
import { type Implementation, parts } from "../implementations.ts";
import { countWaits, spendingOf } from "../measure/spending.ts";
import { type Answers, documentOf, usual } from "../provider.ts";
import { workload } from "../workload.ts";
import { type Counted, counts } from "./counts.ts";

const shape = { events: 100, duplicates: 0.3, items: 2, atOnce: 140 };

/** Loads to count. Each has its own events, and documents with this many items. */
const loads = {
  usual: { ...shape, seed: 41 },
  unrepeated: { ...shape, seed: 42, duplicates: 0 },
  repeated: { ...shape, seed: 43, duplicates: 0.9 },
  alone: { ...shape, seed: 44, events: 30, atOnce: 1 },
  large: { ...shape, seed: 45, items: 88 },
  huge: { ...shape, seed: 46, events: 50, items: 880 },
};
export type LoadName = keyof typeof loads;
export const loadNames = ["usual", "unrepeated", "repeated", "alone", "large", "huge"] as const;

/** Longer than a call to AWS, so that the calls of one batch overlap. */
const delayInMillis = 20;

/** Starts an implementation and counts the resources it uses for each load, such as `usual/ours`. */
export async function countImplementation(
  implementation: Implementation,
  names: readonly LoadName[],
  onProgress: (step: string) => void,
): Promise<ReadonlyMap<string, Counted>> {
  const answers: Answers = { ...usual, delayInMillis };
  await using running = await startImplementation(implementation, { answers });
  const waits = countWaits(running);
  // Warms up processes, JIT and caches.
  await spendingOf(running, workload({ events: 20, seed: 40, duplicates: 0.3 }));
  const found = new Map<string, Counted>();
  for (const name of names) {
    const { items, events, seed, duplicates, atOnce } = loads[name];
    answers.items = items;
    const webhooks = workload({ events, seed, duplicates });
    const before = waits();
    const { spent, secretReads: _, ...used } = await spendingOf(running, webhooks, { atOnce });
    const waited = waits();
    const ofParts = parts.flatMap((part) => [
      [`${part}Invocations`, spent[part].invocations],
      [`${part}CpuMicros`, spent[part].cpuMicros],
      [`${part}Waits`, waited[part] - before[part]],
    ]);
    const dataBytes = Buffer.byteLength(documentOf("", items));
    const all = { events, deliveries: webhooks.length, dataBytes, ...Object.fromEntries(ofParts), ...used };
    found.set(`${name}/${implementation}`, {
      ...counts.parse(all),
      subscriberWaits: waited.subscriber - before.subscriber,
    });
    onProgress(`counted ${name}, ${implementation}`);
  }
  return found;
}
