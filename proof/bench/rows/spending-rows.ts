import type { Context } from "../context.ts";
import { requireNothingLost } from "../drive/snapshot.ts";
import { type Peer, parts } from "../implementations.ts";
import { type Measured, type Spending, spendingOf, startContenders } from "../measure/spending.ts";
import { type Goal, type Row, rowOf } from "./row.ts";

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
  const { running, provider } = contenders.of("ours");
  const again = await spendingOf(running, known, provider);
  const some = await measure(0.3, isQuick ? 3 : 21, 3_000);
  const most = await measure(0.9, 1, 4_000);
  await requireNothingLost(contenders.running, contenders.delivered);

  const counted = [...first.ours, ...none.ours, again, ...some.ours, ...most.ours];
  const secretReads = counted.reduce((sum, each) => sum + each.secretReads, 0);
  const deliveries = contenders.delivered.length + known.length;
  const figure = "per 1,000 deliveries, from the start on";
  const secrets = rowOf("secret-reads", figure, [(secretReads / deliveries) * 1_000], [{ atMost: 2 }]);
  return [
    ...tableRows({ none, some, most, again }, events),
    ...timeRows(some, events),
    ...(isQuick ? [] : [secrets]),
  ];
}

/** @param taken resources by share of duplicates; `again`: our implementation, with known events only */
function tableRows(
  taken: Readonly<Record<"none" | "some" | "most", Measured>> & { readonly again: Spending },
  events: number,
): readonly Row[] {
  const writes = (name: string, from: Measured, goals: readonly PeerGoal[]) =>
    peerRow([name, "write units per event"], from, ({ writeUnits }) => writeUnits / events, goals);
  const requests = (name: string, { ours }: Measured, atMost: number) => {
    const values = ours.map(({ tableRequests }) => tableRequests / events);
    return rowOf(name, "requests to the table per event", values, [{ atMost }]);
  };
  const perDuplicate = [taken.again.writeUnits / events];
  return [
    writes("ddb-writes-0", taken.none, [{ over: "powertools", atMost: 0.45 }]),
    writes("ddb-writes-30", taken.some, [
      { over: "powertools", atMost: 0.5 },
      { over: "floor", atMost: 1.2 },
    ]),
    writes("ddb-writes-90", taken.most, [{ over: "powertools", atMost: 0.8 }]),
    rowOf("ddb-writes-duplicate", "write units per duplicate", perDuplicate, [{ exactly: 1 }]),
    requests("ddb-requests-0", taken.none, 0.7),
    requests("ddb-requests-30", taken.some, 0.8),
    requests("ddb-requests-90", taken.most, 2),
  ];
}

/** The floor's share shows what is left to gain. */
const timeGoals: Readonly<Record<(typeof parts)[number], readonly PeerGoal[]>> = {
  receive: [{ over: "floor", atMost: 1.1 }],
  store: [
    { over: "powertools", atMost: 0.3 },
    { over: "floor", atMost: 1.4 },
  ],
  relay: [{ over: "powertools", atMost: 1 }],
  fetch: [{ over: "powertools", atMost: 0.8 }],
};

function timeRows(some: Measured, events: number): readonly Row[] {
  const sqs: Figure = ({ sqsRequests }) => sqsRequests / events;
  return [
    peerRow(["sqs-requests", "requests to SQS per event"], some, sqs, [
      { over: "plain", atMost: 0.65 },
      { over: "powertools", atMost: 1.03 },
    ]),
    ...parts.map((part) => {
      const micros: Figure = ({ spent }) => spent[part].cpuMicros / events;
      return peerRow([`cpu-${part}`, "CPU µs per event"], some, micros, timeGoals[part]);
    }),
    peerRow(["memory-load", "MB of the largest process"], some, largestProcess, [
      { over: "powertools", atMost: 0.9 },
    ]),
  ];
}

type Title = readonly [name: string, figure: string];

function peerRow([name, figure]: Title, from: Measured, of: Figure, goals: readonly PeerGoal[]): Row {
  const theirs = goals.map((goal) => ({ ...goal, values: from[goal.over].map(of) }));
  return rowOf(name, figure, from.ours.map(of), theirs);
}

/** Peak memory of the largest process, in MB. */
export function largestProcess({ spent }: Spending): number {
  return Math.max(...parts.map((part) => spent[part].maxResidentBytes)) / 2 ** 20;
}
