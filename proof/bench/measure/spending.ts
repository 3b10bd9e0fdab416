import { setTimeout as sleep } from "node:timers/promises";
import { type Driven, type DriveOptions, drive } from "../drive/drive.ts";
import type { RunningImplementation } from "../drive/running-implementation.ts";
import { byParts, type Part, parts } from "../implementations.ts";
import type { BenchProvider } from "../provider.ts";
import type { Webhook } from "../workload.ts";

/** What an implementation used for a load, counted at the gateway and in the functions' processes. */
export type Spending = Pick<Driven, "spent"> & Readonly<Record<Counter, number>>;

type Counter = keyof ReturnType<typeof counted>;

/** Drives a load through an implementation and counts what it used. */
export async function spendingOf(
  running: RunningImplementation,
  load: readonly Webhook[],
  provider: BenchProvider,
  options: DriveOptions = {},
): Promise<Spending> {
  const before = counted(running, provider);
  const { spent, sourceRequests } = await drive(running, load, options);
  const after = counted(running, provider);
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

/** Requests of the functions, SQS's as it bills them, and the tables' capacity units, since the start. */
function counted(
  { queueRequests, stack: { gateway, functions } }: RunningImplementation,
  provider: BenchProvider,
) {
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

/** Of each call, so that simultaneous calls overlap as over a network. */
const delayMs = 5;

/** Counts how often the functions of each part began to wait for AWS; simultaneous calls are one wait. */
export function countWaits({ stack: { gateway, functions } }: RunningImplementation) {
  const partOf = new Map(functions.map(({ name, logicalId }) => [name, partIn(logicalId)]));
  const waiting = new Map<string, number>();
  const waits: Record<Part, number> = { receive: 0, store: 0, relay: 0, fetch: 0 };
  gateway.intercept(async ({ principal }, phase) => {
    const part = partOf.get(principal);
    if (part === undefined) return undefined;
    const others = waiting.get(principal) ?? 0;
    waiting.set(principal, phase === "before" ? others + 1 : others - 1);
    if (phase === "after") return undefined;
    if (others === 0) waits[part] += 1;
    await sleep(delayMs);
    return undefined;
  });
  return () => byParts((part) => waits[part]);
}

/** `UsersReceiveFunction0123ABCD` is of the part `receive`. */
function partIn(logicalId: string): Part | undefined {
  return parts.find((part) =>
    new RegExp(`^([A-Z][A-Za-z]*)?${part}(Function|Changes|Data)`, "i").test(logicalId),
  );
}
