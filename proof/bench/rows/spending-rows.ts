import { requireNothingLost } from "../drive/snapshot.ts";
import { type Implementation, type Peer, parts } from "../implementations.ts";
import { type Measured, type Spending, spendingOf, startContenders } from "../measure/spending.ts";
import { type Context, type Goal, peerRow, type Row, rowOf } from "./row.ts";

type Figure = (spending: Spending) => number;
type PeerGoal = Goal & { readonly over: Peer };

/** Distinct events of a round. */
export const eventsOf = (isQuick: boolean) => (isQuick ? 100 : 140);

/**
 * Costs of events at 0 %, 30 % and 90 % duplicate deliveries: all implementations take the same loads.
 * @throws if an implementation ends with missing or additional records or messages
 */
export async function spendingRows({ isQuick, onProgress }: Context): Promise<readonly Row[]> {
  const events = eventsOf(isQuick);
  await using contenders = await startContenders(onProgress);
  const measure = (duplicates: number, count: number, seed: number) =>
    contenders.measure({ seed, events, duplicates }, count);
  // Warms up the processes.
  const first = await measure(0.3, isQuick ? 1 : 2, 1_000);
  const none = await measure(0, 1, 2_000);
  const known = contenders.delivered.slice(-events);
  const again = await spendingOf(contenders.of("ours"), known);
  const some = await measure(0.3, isQuick ? 3 : 21, 3_000);
  const most = await measure(0.9, 1, 4_000);
  await requireNothingLost(contenders.running, contenders.delivered);

  const counted = [...first.ours, ...none.ours, again, ...some.ours, ...most.ours];
  const secretReads = counted.reduce((sum, each) => sum + each.secretReads, 0);
  const deliveries = contenders.delivered.length + known.length;
  const figure = "per 1,000 deliveries, from the start on";
  const secrets = rowOf("secret-reads", figure, [(secretReads / deliveries) * 1_000], [{ goal: "≤ 2" }]);
  return [...rowsOf({ none, some, most, again }, events), ...(isQuick ? [] : [secrets])];
}

type Taken = Readonly<Record<"none" | "some" | "most", Measured>> & { readonly again: Spending };

/** @param taken resources by share of duplicates; `again`: our implementation, with known events only */
function rowsOf({ none, some, most, again }: Taken, events: number): readonly Row[] {
  const valuesOf = (from: Measured, of: Figure) => (implementation: Implementation) =>
    from[implementation].map(of);
  const writes = (name: string, from: Measured, goals: readonly PeerGoal[]) =>
    peerRow(
      name,
      "write units per event",
      valuesOf(from, ({ writeUnits }) => writeUnits / events),
      goals,
    );
  const requests = (name: string, { ours }: Measured, goal: Goal["goal"]) => {
    const values = ours.map(({ tableRequests }) => tableRequests / events);
    return rowOf(name, "requests to the table per event", values, [{ goal }]);
  };
  const sqs = valuesOf(some, ({ sqsRequests }) => sqsRequests / events);
  return [
    writes("ddb-writes-0", none, [{ over: "powertools", goal: "≤ 0.45" }]),
    writes("ddb-writes-30", some, [
      { over: "powertools", goal: "≤ 0.5" },
      { over: "floor", goal: "≤ 1.2" },
    ]),
    writes("ddb-writes-90", most, [{ over: "powertools", goal: "≤ 0.8" }]),
    rowOf(
      "ddb-writes-duplicate",
      "write units per duplicate",
      [again.writeUnits / events],
      [{ goal: "= 1" }],
    ),
    requests("ddb-requests-0", none, "≤ 0.7"),
    requests("ddb-requests-30", some, "≤ 0.8"),
    requests("ddb-requests-90", most, "≤ 2"),
    peerRow("sqs-requests", "requests to SQS per event", sqs, [
      { over: "plain", goal: "≤ 0.65" },
      { over: "powertools", goal: "≤ 1.03" },
    ]),
    ...parts.map((part) => {
      const micros = valuesOf(some, ({ spent }) => spent[part].cpuMicros / events);
      return peerRow(`cpu-${part}`, "CPU µs per event", micros, timeGoals[part]);
    }),
    peerRow("memory-load", "MB of the largest process", valuesOf(some, largestProcess), [
      { over: "powertools", goal: "≤ 0.9" },
    ]),
  ];
}

/** The floor's share shows what is left to gain. */
const timeGoals: Readonly<Record<(typeof parts)[number], readonly PeerGoal[]>> = {
  receive: [{ over: "floor", goal: "≤ 1.1" }],
  store: [
    { over: "powertools", goal: "≤ 0.3" },
    { over: "floor", goal: "≤ 1.4" },
  ],
  relay: [{ over: "powertools", goal: "≤ 1" }],
  fetch: [{ over: "powertools", goal: "≤ 0.8" }],
};

/** Peak memory of the largest process, in MB. */
export function largestProcess({ spent }: Spending): number {
  return Math.max(...parts.map((part) => spent[part].maxResidentBytes)) / 2 ** 20;
}
