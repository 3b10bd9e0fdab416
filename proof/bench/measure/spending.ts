import { setTimeout as sleep } from "node:timers/promises";
import { type DriveOptions, drive, type Spent } from "../drive/drive.ts";
import { type RunningImplementation, startImplementation } from "../drive/running-implementation.ts";
import { type Implementation, implementations, type Part, parts, titles } from "../implementations.ts";
import { type Webhook, type WorkloadShape, workload } from "../workload.ts";

/**
 * Resources that an implementation used for a load, counted at the gateway and in the functions' processes.
 */
export type Spending = Readonly<Record<Counter, number>> & {
  readonly spent: Readonly<Record<Part, Spent>>;
};

type Counter = keyof ReturnType<typeof counted>;

/** Runs a load on an implementation and counts the resources it used. */
export async function spendingOf(
  running: RunningImplementation,
  load: readonly Webhook[],
  options: DriveOptions = {},
): Promise<Spending> {
  const before = counted(running);
  const { spent, sourceRequests } = await drive(running, load, options);
  const after = counted(running);
  const used = (name: Counter) => after[name] - before[name];
  return {
    spent,
    sqsRequests: used("sqsRequests") + sourceRequests.all,
    fifoRequests: used("fifoRequests") + sourceRequests.fifo,
    tableRequests: used("tableRequests"),
    writeUnits: used("writeUnits"),
    readUnits: used("readUnits"),
    objectPuts: used("objectPuts"),
    objectGets: used("objectGets"),
    secretReads: used("secretReads"),
    providerCalls: used("providerCalls"),
    providerWaits: used("providerWaits"),
    logBytes: used("logBytes"),
  };
}

/** Requests of the functions (SQS's as billed) and capacity units of the tables, since the start. */
function counted({ queueRequests, provider, stack: { gateway, functions } }: RunningImplementation) {
  const isOfFunction = ([key]: readonly [string, unknown]) => !key.startsWith("operator ");
  const calls = [...gateway.calls()].filter(isOfFunction);
  const callsOf = (action: string) =>
    calls.reduce((sum, [key, count]) => sum + (key.includes(` ${action}`) ? count : 0), 0);
  const units = [...gateway.capacity()].filter(isOfFunction).map(([, each]) => each);
  return {
    sqsRequests: queueRequests().all,
    fifoRequests: queueRequests().fifo,
    tableRequests: callsOf("dynamodb:"),
    writeUnits: units.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    readUnits: units.reduce((sum, { readUnits }) => sum + readUnits, 0),
    objectPuts: callsOf("s3:Put"),
    objectGets: callsOf("s3:Get"),
    secretReads: callsOf("secretsmanager:GetSecretValue"),
    providerCalls: provider.calls(),
    providerWaits: provider.rounds(),
    logBytes: functions.reduce((sum, each) => sum + each.logBytes(), 0),
  };
}

/** Delay of each call, so that simultaneous calls overlap as they do over a network. */
const delayMs = 5;

/**
 * Counts how often the functions of each part waited for AWS; overlapping calls count as one wait, and as none beside a
 * longer one of the provider. `subscriber` counts the waits of each webhook, if they come alone, until its own message is
 * on the subscriber's queue.
 */
export function countWaits({
  provider: { isAnswering },
  stack: { gateway, functions, outputs },
}: RunningImplementation) {
  const partOf = new Map(functions.map(({ name, logicalId }) => [name, partIn(logicalId)]));
  const waiting = new Map<string, number>();
  const waits = { receive: 0, store: 0, relay: 0, fetch: 0, subscriber: 0 };
  /** Waits of the latest webhook; undefined once its message is sent. */
  let ofWebhook: number | undefined;
  let latest: Part | undefined;
  gateway.intercept(async ({ principal, service, body }, phase) => {
    const part = partOf.get(principal);
    if (part === undefined) return undefined;
    const others = waiting.get(principal) ?? 0;
    waiting.set(principal, phase === "before" ? others + 1 : others - 1);
    if (phase === "after") {
      if (others === 1 && part === "fetch" && isAnswering()) waits.fetch -= 1;
      return undefined;
    }
    if (part === "receive" && latest !== part) ofWebhook = 0;
    latest = part;
    if (others === 0) {
      waits[part] += 1;
      if (ofWebhook !== undefined) ofWebhook += 1;
    }
    if (service === "sqs" && String(body).includes(`"${outputs.SubscriberReaderQueueUrl}"`)) {
      waits.subscriber += ofWebhook ?? 0;
      ofWebhook = undefined;
    }
    await sleep(delayMs);
    return undefined;
  });
  return () => ({ ...waits });
}

/** Part of a function: `receive` for `UsersReceiveFunction0123ABCD`. */
function partIn(logicalId: string): Part | undefined {
  return parts.find((part) =>
    new RegExp(`^([A-Z][A-Za-z]*)?${part}(Function|Changes|Data)`, "i").test(logicalId),
  );
}

/** Resources that each implementation used, by round. */
export type Measured = Readonly<Record<Implementation, readonly Spending[]>>;

/** Starts implementations side by side. */
export async function startContenders(
  onProgress: (step: string) => void,
  which: readonly Implementation[] = implementations,
) {
  await using starting = new AsyncDisposableStack();
  const running: RunningImplementation[] = [];
  for (const implementation of which) {
    onProgress(`starting ${titles[implementation]}`);
    running.push(starting.use(await startImplementation(implementation)));
  }
  const delivered: Webhook[] = [];
  const cleanup = starting.move();
  return {
    delivered,
    running,
    of: (implementation: Implementation) => {
      const found = running.find((each) => each.implementation === implementation);
      if (found === undefined) throw new Error(`${implementation} is not running`);
      return found;
    },
    /**
     * Runs the same loads on all. Each round starts with another implementation, because later ones find warmer
     * caches.
     * @param shape each round adds its number to the seed
     */
    measure: async (shape: WorkloadShape, rounds: number): Promise<Measured> => {
      const found: Record<Implementation, Spending[]> = { ours: [], powertools: [], plain: [], floor: [] };
      for (let round = 0; round < rounds; round += 1) {
        const load = workload({ ...shape, seed: shape.seed + round });
        delivered.push(...load);
        const first = round % running.length;
        for (const each of [...running.slice(first), ...running.slice(0, first)]) {
          found[each.implementation].push(await spendingOf(each, load));
          const share = Math.round(shape.duplicates * 100);
          const title = titles[each.implementation];
          onProgress(`${share} % duplicates, round ${round + 1} of ${rounds}, ${title}`);
        }
      }
      return found;
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}
