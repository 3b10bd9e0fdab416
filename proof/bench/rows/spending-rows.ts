import { requireSame } from "../drive/compare.ts";
import { expectationOf } from "../drive/expectation.ts";
import { takeTableSnapshot } from "../drive/snapshot.ts";
import { type Peer, parts, titles } from "../implementations.ts";
import { takeUnderFaults } from "../measure/faulty-load.ts";
import { addRounds, type Measured, measureRounds } from "../measure/rounds.ts";
import { type RunningImplementations, startImplementations } from "../measure/running-implementations.ts";
import { type Spending, spendingOf } from "../measure/spending.ts";
import { isWithin } from "../measure/statistics.ts";
import type { Context } from "../measurement.ts";
import { type Webhook, workload } from "../workload.ts";
import { absoluteRow, type Goal, pairedRow, type Row } from "./row.ts";

/** Of all deliveries: none, some, nearly all are duplicates. Processor time and requests are measured under some. */
const [noDuplicates, someDuplicates, mostlyDuplicates] = [0, 0.3, 0.9];

/**
 * What events cost: the implementations take the same loads in turns, each with its own engines, until they have
 * nothing to do; at last one load while calls fail and functions are killed.
 * @throws where an implementation ends without all records and messages, or with others: then no ratio counts
 */
export async function spendingRows(context: Context): Promise<readonly Row[]> {
  await using implementations = await startImplementations(context.assemblies, context.onProgress);
  return rowsOf(await takeLoads(implementations, context), context);
}

/** By the share of duplicates; `again`: ours, with events that it all has. */
type Taken = {
  readonly none: Measured;
  readonly some: Measured;
  readonly most: Measured;
  readonly again: readonly Spending[];
  /** Of ours, for 1,000 deliveries from the processes' start on. */
  readonly secretReads: number;
};

async function takeLoads(
  implementations: RunningImplementations,
  { effort, estimate, onProgress }: Context,
): Promise<Taken> {
  const delivered: Webhook[] = [];
  const { events, rounds, maxRounds } = effort.spending;
  const onLoad = (load: readonly Webhook[]) => void delivered.push(...load);
  const measure = (duplicates: number, count: number, firstSeed: number) =>
    measureRounds(implementations, { events, rounds: count, duplicates, firstSeed, onLoad, onProgress });

  // The processes start and compile.
  const first = await measure(someDuplicates, effort.isQuick ? 1 : 2, 1_000);
  const none = await measure(noDuplicates, 1, 2_000);
  const ours = implementations.of("ours");
  const known = delivered.slice(-events);
  const again = await spendingOf(ours.running, known, ours.provider.calls);
  const some = await addRounds(
    await measure(someDuplicates, rounds, 3_000),
    { rounds, maxRounds },
    (taken) => isCertain(taken, estimate),
    async (taken, round) => joined(taken, await measure(someDuplicates, 1, 3_000 + round)),
  );
  const most = await measure(mostlyDuplicates, 1, 4_000);
  const counted = [...first.ours, ...none.ours, again, ...some.ours, ...most.ours];
  const secretReads = counted.reduce((sum, each) => sum + each.secretReads, 0);
  const deliveries = delivered.length + known.length;

  const faulty = workload({ seed: 5_000, events: effort.faults.events, duplicates: someDuplicates });
  onLoad(faulty);
  await takeUnderFaults(implementations, faulty, onProgress);
  await requireNothingLost(implementations, delivered);
  return {
    ...{ none, some, most, again: [again] },
    secretReads: (secretReads / deliveries) * 1_000,
  };
}

/** How far from its median the interval of a ratio of processor times may reach. */
const tolerance = 0.1;

/** Whether each part's processor time, against P1's, is known well enough. */
function isCertain({ ours, powertools }: Measured, estimate: Context["estimate"]): boolean {
  return parts.every((part) => {
    const ratios = ours.map(
      ({ spent }, round) => spent[part].cpuMicros / (powertools[round]?.spent[part].cpuMicros ?? Number.NaN),
    );
    return ratios.length > 2 && isWithin(estimate(ratios), tolerance);
  });
}

function joined(one: Measured, other: Measured): Measured {
  return {
    ours: [...one.ours, ...other.ours],
    powertools: [...one.powertools, ...other.powertools],
    plain: [...one.plain, ...other.plain],
    floor: [...one.floor, ...other.floor],
  };
}

/** @throws where an implementation has lost something of what was delivered to all, or has more */
export async function requireNothingLost(
  { contenders }: RunningImplementations,
  delivered: readonly Webhook[],
): Promise<void> {
  const outcomes = await Promise.all(
    contenders.map(async ({ running }) => ({
      title: titles[running.implementation],
      snapshot: await takeTableSnapshot(running),
    })),
  );
  requireSame(expectationOf(delivered), outcomes);
}

type Figure = (spending: Spending) => number;

function rowsOf(taken: Taken, { effort, estimate }: Context): readonly Row[] {
  const { events } = effort.spending;
  const row = (
    title: Pick<Row, "name" | "figure">,
    from: Measured,
    figure: Figure,
    goals: readonly (Goal & { over: Peer })[],
  ) => {
    const theirs = goals.map((goal) => ({ ...goal, values: from[goal.over].map(figure) }));
    return pairedRow(title, from.ours.map(figure), theirs, estimate);
  };
  const writes = (name: string, from: Measured, goals: readonly (Goal & { over: Peer })[]) =>
    row({ name, figure: "write units per event" }, from, ({ writeUnits }) => writeUnits / events, goals);
  const requests = (name: string, from: Measured, atMost: number) =>
    absoluteRow(
      { name, figure: "requests to the table per event" },
      from.ours.map(({ tableRequests }) => tableRequests / events),
      { atMost },
      estimate,
    );
  const perDuplicate = taken.again.map(({ writeUnits }) => writeUnits / events);
  const secrets = absoluteRow(
    { name: "secret-reads", figure: "per 1,000 deliveries, from the start on" },
    [taken.secretReads],
    { atMost: 2 },
    estimate,
  );
  return [
    writes("ddb-writes-0", taken.none, [{ over: "powertools", atMost: 0.45 }]),
    writes("ddb-writes-30", taken.some, [
      { over: "powertools", atMost: 0.5 },
      { over: "floor", atMost: 1.2 },
    ]),
    writes("ddb-writes-90", taken.most, [{ over: "powertools", atMost: 0.8 }]),
    absoluteRow(
      { name: "ddb-writes-duplicate", figure: "write units per duplicate" },
      perDuplicate,
      { exactly: 1 },
      estimate,
    ),
    requests("ddb-requests-0", taken.none, 0.7),
    requests("ddb-requests-30", taken.some, 0.8),
    requests("ddb-requests-90", taken.most, 2),
    row(
      { name: "sqs-requests", figure: "requests to SQS per event" },
      taken.some,
      ({ sqsRequests }) => sqsRequests / events,
      [
        { over: "plain", atMost: 0.65 },
        { over: "powertools", atMost: 1.03 },
      ],
    ),
    ...parts.map((part) =>
      row(
        { name: `cpu-${part}`, figure: "CPU µs per event" },
        taken.some,
        ({ spent }) => spent[part].cpuMicros / events,
        cpuGoals[part],
      ),
    ),
    row({ name: "memory-load", figure: "MB of the largest process" }, taken.some, largestProcess, [
      { over: "powertools", atMost: 0.9 },
    ]),
    ...(effort.isQuick ? [] : [secrets]),
  ];
}

/** The Floor's share says what is left to gain. */
const cpuGoals: Readonly<Record<(typeof parts)[number], readonly (Goal & { over: Peer })[]>> = {
  receive: [{ over: "floor", atMost: 1.1 }],
  store: [
    { over: "powertools", atMost: 0.3 },
    { over: "floor", atMost: 1.5 },
  ],
  relay: [{ over: "powertools", atMost: 1 }],
  fetch: [{ over: "powertools", atMost: 0.8 }],
};

export function largestProcess({ spent }: Spending): number {
  return Math.max(...parts.map((part) => spent[part].maxResidentBytes)) / 2 ** 20;
}
