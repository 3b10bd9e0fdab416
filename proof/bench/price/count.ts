import { startSystem } from "@income-events/local-stack/system.ts";
import { documentedStage } from "../../../scripts/documents/stage-template.ts";
import { startImplementation } from "../drive/running-implementation.ts";
import { byParts, type Implementation } from "../implementations.ts";
import { countWaits, spendingOf, storedBytes } from "../measure/spending.ts";
import { type Answers, documentOf, startProvider, usual } from "../provider.ts";
import { workload } from "../workload.ts";
import type { Counts, Tick } from "./counts.ts";
import { nameOfResource, scheduledIn } from "./idle.ts";

const shape = { events: 100, duplicates: 0.3, items: 2, atOnce: 140 };

/** What is counted. Each load has its own events, and documents of so many items. */
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

/** Starts an implementation and counts what it uses for each of the loads. */
export async function countImplementation(
  implementation: Implementation,
  names: readonly LoadName[],
  onProgress: (step: string) => void,
): Promise<ReadonlyMap<LoadName, Counts>> {
  const answers: Answers = { ...usual, delayInMillis };
  await using provider = await startProvider(() => undefined, answers);
  await using running = await startImplementation(implementation, provider);
  const waits = countWaits(running);
  // The processes start and compile, and caches fill.
  await spendingOf(running, workload({ events: 20, seed: 40, duplicates: 0.3 }), provider);
  const found = new Map<LoadName, Counts>();
  for (const name of names) {
    const { items, events, seed, duplicates, atOnce } = loads[name];
    answers.items = items;
    const webhooks = workload({ events, seed, duplicates });
    const before = { waits: waits(), bytes: await storedBytes(running) };
    const { spent, secretReads: _, ...used } = await spendingOf(running, webhooks, provider, { atOnce });
    const [waited, bytes] = [waits(), await storedBytes(running)];
    const of = byParts((part) => ({ ...spent[part], waits: waited[part] - before.waits[part] }));
    found.set(name, {
      events,
      deliveries: webhooks.length,
      dataBytes: Buffer.byteLength(documentOf("", items)),
      receiveInvocations: of.receive.invocations,
      receiveCpuMicros: of.receive.cpuMicros,
      receiveWaits: of.receive.waits,
      storeInvocations: of.store.invocations,
      storeCpuMicros: of.store.cpuMicros,
      storeWaits: of.store.waits,
      relayInvocations: of.relay.invocations,
      relayCpuMicros: of.relay.cpuMicros,
      relayWaits: of.relay.waits,
      fetchInvocations: of.fetch.invocations,
      fetchCpuMicros: of.fetch.cpuMicros,
      fetchWaits: of.fetch.waits,
      ...used,
      expiringBytes: bytes.expiringBytes - before.bytes.expiringBytes,
      stayingBytes: bytes.stayingBytes - before.bytes.stayingBytes,
    });
    onProgress(`counted ${name}, ${implementation}`);
  }
  return found;
}

/** Runs what each schedule invokes on an idle stack; only the second run counts. By the function's id without its hash. */
export async function countTicks(onProgress: (step: string) => void): Promise<ReadonlyMap<string, Tick>> {
  const options = { once: true, users: 0, stage: "local", apiPort: 0, awsPort: 0, sandboxPort: 0 };
  const system = await startSystem(options, {}, onProgress, () => undefined);
  try {
    const { functions, gateway } = system.stack;
    const ticks = new Map<string, Tick>();
    for (const { functionId } of scheduledIn(documentedStage())) {
      // Another stage with the same constructs.
      const found = functions.find(({ logicalId }) => logicalId === functionId);
      if (found === undefined) throw new Error(`the stack has no function ${functionId}`);
      await found.invoke("{}");
      const before = { calls: new Map(gateway.calls()), bytes: found.logBytes() };
      const outcome = await found.invoke("{}");
      if (outcome.kind !== "returned") throw new Error(`${functionId} failed: ${JSON.stringify(outcome)}`);
      const callsTo = (action: string) =>
        [...gateway.calls()]
          .filter(([key]) => key.startsWith(`${found.name} ${action}`))
          .reduce((sum, [key, count]) => sum + count - (before.calls.get(key) ?? 0), 0);
      ticks.set(nameOfResource(functionId), {
        cpuMicros: outcome.usage?.cpuMicros ?? 0,
        memoryMb: found.memoryMb,
        sqsRequests: callsTo("sqs:"),
        tableRequests: callsTo("dynamodb:"),
        secretCalls: callsTo("secretsmanager:"),
        objectPuts: callsTo("s3:Put") + callsTo("s3:List"),
        objectGets: callsTo("s3:Get"),
        logBytes: found.logBytes() - before.bytes,
      });
    }
    return ticks;
  } finally {
    await system.close();
  }
}
