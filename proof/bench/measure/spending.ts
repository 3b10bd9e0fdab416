import { type DriveOptions, drive, type SpentByPart } from "../drive/drive.ts";
import type { RunningImplementation } from "../drive/running-implementation.ts";
import type { Webhook } from "../workload.ts";

/** What an implementation used for a load, counted at the gateway and inside the functions' processes. */
export type Spending = {
  readonly spent: SpentByPart;
  /** Capacity units of the table, written and read. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Requests to SQS as it bills them: those of the functions, and what their event sources receive and delete. */
  readonly sqsRequests: number;
  /** Those of them to FIFO queues. */
  readonly fifoRequests: number;
  /** To the table, of functions. */
  readonly tableRequests: number;
  readonly secretReads: number;
  readonly providerCalls: number;
  /** Written by the functions' code. */
  readonly logBytes: number;
};

/** Drives a load through an implementation and counts what it used. */
export async function spendingOf(
  running: RunningImplementation,
  load: readonly Webhook[],
  providerCalls: () => number,
  options: DriveOptions = {},
): Promise<Spending> {
  const before = counted(running, providerCalls);
  const spent = await drive(running, load, options);
  const after = counted(running, providerCalls);
  const used = (name: keyof typeof after) => after[name] - before[name];
  return {
    spent,
    writeUnits: used("writeUnits"),
    readUnits: used("readUnits"),
    sqsRequests: used("sqsRequests") + spent.store.queueRequests.all + spent.fetch.queueRequests.all,
    fifoRequests: used("fifoRequests") + spent.fetch.queueRequests.fifo,
    tableRequests: used("tableRequests"),
    secretReads: used("secretReads"),
    providerCalls: used("providerCalls"),
    logBytes: used("logBytes"),
  };
}

function counted(
  { stack: { functions, gateway }, queueRequests }: RunningImplementation,
  providerCalls: () => number,
) {
  const calls = [...gateway.calls()];
  const sumOf = (matches: (key: string) => boolean) =>
    calls.reduce((sum, [key, count]) => (matches(key) ? sum + count : sum), 0);
  const capacity = [...gateway.capacity()].filter(([key]) => !isOperators(key)).map(([, units]) => units);
  return {
    writeUnits: capacity.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    readUnits: capacity.reduce((sum, { readUnits }) => sum + readUnits, 0),
    sqsRequests: queueRequests().all,
    fifoRequests: queueRequests().fifo,
    tableRequests: sumOf((key) => key.includes(" dynamodb:") && !isOperators(key)),
    secretReads: sumOf((key) => key.endsWith(" secretsmanager:GetSecretValue") && !isOperators(key)),
    providerCalls: providerCalls(),
    logBytes: functions.reduce((sum, { logBytes }) => sum + logBytes(), 0),
  };
}

const isOperators = (key: string) => key.startsWith("operator ");
