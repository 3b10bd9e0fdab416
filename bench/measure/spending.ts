import { drive, type SpentByPart } from "../drive/drive.ts";
import type { RunningSide } from "../drive/running-side.ts";
import type { Webhook } from "../workload.ts";

/** What a side used for a load, counted at the gateway and inside the functions' processes. */
export type Spending = {
  readonly spent: SpentByPart;
  /** Capacity units of the table, written and read. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Requests to SQS, those of the event sources (one to receive and one to delete a batch) included. */
  readonly sqsRequests: number;
  readonly secretReads: number;
  readonly providerCalls: number;
};

/** Drives a load through a side and counts what it used. */
export async function spendingOf(
  running: RunningSide,
  load: readonly Webhook[],
  providerCalls: () => number,
): Promise<Spending> {
  const before = counted(running, providerCalls);
  const spent = await drive(running, load);
  const after = counted(running, providerCalls);
  const used = (name: keyof typeof after) => after[name] - before[name];
  return {
    spent,
    writeUnits: used("writeUnits"),
    readUnits: used("readUnits"),
    sqsRequests: used("sqsRequests"),
    secretReads: used("secretReads"),
    providerCalls: used("providerCalls"),
  };
}

function counted({ stack: { gateway } }: RunningSide, providerCalls: () => number) {
  const calls = [...gateway.calls()];
  const sumOf = (matches: (key: string) => boolean) =>
    calls.reduce((sum, [key, count]) => (matches(key) ? sum + count : sum), 0);
  const capacity = [...gateway.capacity()].filter(([key]) => !isOperators(key)).map(([, units]) => units);
  return {
    writeUnits: capacity.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    readUnits: capacity.reduce((sum, { readUnits }) => sum + readUnits, 0),
    // The queues' attributes are read by whoever measures.
    sqsRequests: sumOf((key) => / sqs:(?!GetQueueAttributes)/.test(key)),
    secretReads: sumOf((key) => key.endsWith(" secretsmanager:GetSecretValue") && !isOperators(key)),
    providerCalls: providerCalls(),
  };
}

const isOperators = (key: string) => key.startsWith("operator ");
