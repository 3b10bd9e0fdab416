import { startImplementation } from "../drive/running-implementation.ts";
import { sumOfParts } from "../implementations.ts";
import { type Spending, spendingOf } from "../measure/spending.ts";
import { workload } from "../workload.ts";
import { type Context, exponentOf, type Row, rowOf } from "./row.ts";
import { eventsOf, largestProcess } from "./spending-rows.ts";

/** Leases of the provider's rate follow the clock: the requests of a load vary by one percent. */
const nothingMore = { goal: "≤ 1.01" } as const;

/**
 * Extra costs of documents in messages over references: requests to tables, queues and buckets, and writes.
 */
export async function inlineRows(context: Context): Promise<readonly Row[]> {
  const byReference = await countsOf(context, false);
  const inline = await countsOf(context, true);
  const row = (name: "requests" | "writes", what: string) => {
    const figure = `${what} with documents in messages, over those by reference`;
    return rowOf(`inline-${name}`, figure, [inline[name] / byReference[name]], [nothingMore]);
  };
  return [row("requests", "requests"), row("writes", "write units")];
}

/** @throws if no message contains a document, or one contains a document that it must not */
async function countsOf({ isQuick, onProgress }: Context, isInline: boolean) {
  onProgress(`documents ${isInline ? "in messages" : "by reference"}`);
  await using ours = await startImplementation("ours", { isInline });
  const load = workload({ seed: 7_000, events: eventsOf(isQuick), duplicates: 0 });
  let contents = 0;
  ours.stack.gateway.intercept(async ({ action, isFromFunction, body }, phase) => {
    if (phase === "before" && action === "sqs:SendMessageBatch" && isFromFunction)
      contents += String(body).split('\\"content\\":').length - 1;
    return undefined;
  });
  const { writeUnits: writes } = await spendingOf(ours, load);
  if (contents > 0 !== isInline) throw new Error(`${contents} documents were in messages`);
  // Without reads of secrets, which depend on time.
  const requests = [...ours.stack.gateway.calls()]
    .filter(([key]) => !key.startsWith("operator ") && / (?:dynamodb|sqs|s3):/.test(key))
    .reduce((sum, [, count]) => sum + count, 0);
  return { requests, writes };
}

const loads = [1_000, 10_000, 100_000];

/** Growth of our writes, CPU time and memory with the number of events, load after load on the same table. */
export async function growthRows({ onProgress }: Context): Promise<readonly Row[]> {
  await using ours = await startImplementation("ours", { keepsMuch: true });
  const points: (readonly [number, Spending])[] = [];
  // The first load is a warm-up and does not count.
  for (const [index, events] of [Math.min(...loads), ...loads].entries()) {
    const load = workload({ seed: 6_000 + index, events, duplicates: 0 });
    const spending = await spendingOf(ours, load, {
      atOnce: 1_400,
      onProgress: (deliveries) => onProgress(`growth, ${deliveries} of ${events} events`),
    });
    if (index > 0) points.push([events, spending]);
  }
  const text = `exponent over ${loads.map((events) => events.toLocaleString("en")).join(", ")} events`;
  const row = (name: string, figure: (spending: Spending) => number) => {
    const exponent = exponentOf(points.map(([events, spending]) => [events, figure(spending)]));
    return rowOf(`growth-${name}`, text, [exponent], [{ goal: "≤ 1.05" }]);
  };
  return [
    row("writes", ({ writeUnits }) => writeUnits),
    row("cpu", ({ spent }) => sumOfParts((part) => spent[part].cpuMicros)),
    row("memory", largestProcess),
  ];
}
