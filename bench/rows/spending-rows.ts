import { takeCensus } from "../drive/census.ts";
import { type RunningSide, startSide } from "../drive/running-side.ts";
import { type Spending, spendingOf } from "../measure/spending.ts";
import type { Estimate } from "../measure/statistics.ts";
import { billOf, type Prices, totalOf } from "../price.ts";
import { type BenchProvider, startProvider } from "../provider.ts";
import { type Part, type Peer, type Side, sides, titles } from "../sides.ts";
import { workload } from "../workload.ts";
import { absoluteRow, type Goal, pairedRow, type Row } from "./row.ts";

export type SpendingOptions = {
  /** Distinct events of one round. */
  readonly events: number;
  readonly rounds: number;
  readonly prices: Prices;
  readonly estimate: (values: readonly number[]) => Estimate;
  readonly onProgress: (step: string) => void;
};

/** Of all deliveries: none, some, nearly all are duplicates. */
const duplicateShares = [0, 0.3, 0.9] as const;
/** The share under which processor time and requests are measured. */
const usualShare = 0.3;
/** Each round its own events: none is known to the table before. */
const firstSeed = 1_000;

type Measured = Readonly<Record<Side, readonly Spending[]>>;

/**
 * What events cost: the sides take the same loads in turns, each with its own engines, until they have nothing to do.
 * @throws where two sides end with different records or messages: then no ratio counts
 */
export async function spendingRows(options: SpendingOptions): Promise<readonly Row[]> {
  await using cleanup = new AsyncDisposableStack();
  const running: RunningSide[] = [];
  const providers = new Map<Side, BenchProvider>();
  for (const side of sides) {
    options.onProgress(`starting ${titles[side]}`);
    const provider = cleanup.use(await startProvider());
    providers.set(side, provider);
    running.push(cleanup.use(await startSide(side, provider)));
  }
  const measure = async (share: number, rounds: number, seed: number): Promise<Measured> => {
    const found: Record<Side, Spending[]> = { ours: [], powertools: [], plain: [], floor: [] };
    for (let round = 0; round < rounds; round += 1) {
      const load = workload({ seed: seed + round, events: options.events, duplicates: share });
      // In turns from another beginning each round: who comes later has warmer caches.
      for (let turn = 0; turn < running.length; turn += 1) {
        const each = running[(turn + round) % running.length];
        if (each === undefined) continue;
        const calls = providers.get(each.side)?.calls ?? (() => 0);
        found[each.side].push(await spendingOf(each, load, calls));
        options.onProgress(
          `${Math.round(share * 100)} % duplicates, round ${round + 1} of ${rounds}, ${titles[each.side]}`,
        );
      }
    }
    return found;
  };

  // The processes start and compile.
  await measure(usualShare, 2, firstSeed);
  const byShare = new Map<number, Measured>();
  for (const [index, share] of duplicateShares.entries()) {
    const rounds = share === usualShare ? options.rounds : 1;
    byShare.set(share, await measure(share, rounds, firstSeed * (index + 2)));
  }
  await requireSameCensus(running);
  return rowsOf(byShare, running, options);
}

/** Where anybody has another result, what it spent for it says nothing. */
async function requireSameCensus(running: readonly RunningSide[]): Promise<void> {
  const [ours, ...others] = await Promise.all(
    running.map(async (each) => ({ side: each.side, census: await takeCensus(each) })),
  );
  for (const { side, census } of others) {
    for (const [name, list] of Object.entries(census)) {
      const own = new Map(Object.entries(ours?.census ?? {})).get(name) ?? [];
      if (JSON.stringify(own) === JSON.stringify(list)) continue;
      throw new Error(
        `${titles[side]} ends with other ${name} than ours (${list.length}, ours ${own.length})`,
      );
    }
  }
}

type Figure = (spending: Spending) => number;

function rowsOf(
  byShare: ReadonlyMap<number, Measured>,
  running: readonly RunningSide[],
  { events, prices, estimate }: SpendingOptions,
): readonly Row[] {
  const usual = byShare.get(usualShare);
  if (usual === undefined) throw new Error(`nothing was measured at ${usualShare}`);
  const row = (
    name: string,
    text: string,
    from: Measured,
    figure: Figure,
    goals: readonly (Goal & { over: Peer })[],
  ) =>
    pairedRow(
      name,
      text,
      from.ours.map(figure),
      goals.map((goal) => ({ ...goal, over: goal.over, values: from[goal.over].map(figure) })),
      estimate,
    );
  const deliveries = (share: number) => events / (1 - share);
  const cpu = (part: Part): Row =>
    row(`cpu-${part}`, `CPU µs per event, ${part}`, usual, ({ spent }) => spent[part].cpuMicros / events, [
      { over: "powertools", atMost: 0.5 },
      { over: "floor", atMost: 1.3 },
    ]);
  const writes = (share: number, atMost: number): readonly Row[] => {
    const from = byShare.get(share);
    const name = `ddb-writes-${Math.round(share * 100)}`;
    return from === undefined
      ? []
      : [
          row(name, "write units per event", from, ({ writeUnits }) => writeUnits / events, [
            { over: "powertools", atMost },
          ]),
        ];
  };
  const memory = memoryOf(running);
  const bill: Figure = (spending) => totalOf(billOf(spending, events, prices, memory));
  return [
    ...writes(0, 0.5),
    ...writes(0.3, 0.6),
    ...writes(0.9, 0.9),
    row("sqs-requests", "requests to SQS per event", usual, ({ sqsRequests }) => sqsRequests / events, [
      { over: "plain", atMost: 0.65 },
      { over: "powertools", atMost: 1 },
    ]),
    ...(["receive", "store", "relay", "fetch"] as const).map(cpu),
    row("memory", "MB of the largest process, under load", usual, largestProcess, [
      { over: "powertools", atMost: 0.7 },
    ]),
    absoluteRow("secret-reads", "per 1,000 deliveries", secretReadsOf(usual, deliveries(usualShare)), 2),
    row("price", "US$ per million events, modelled", usual, bill, [
      { over: "floor", atMost: 1.3 },
      { over: "plain", atMost: 0.5 },
    ]),
  ];
}

function largestProcess({ spent }: Spending): number {
  return Math.max(...Object.values(spent).map(({ maxResidentBytes }) => maxResidentBytes)) / 2 ** 20;
}

function secretReadsOf({ ours }: Measured, deliveries: number): number {
  const reads = ours.reduce((sum, { secretReads }) => sum + secretReads, 0);
  return (reads / (ours.length * deliveries)) * 1000;
}

/** As the stack gives it to our functions; a peer has the same. */
export function memoryOf(running: readonly RunningSide[]): Readonly<Record<Part, number>> {
  const ours = running[0];
  const of = (name: string) => ours?.function(name).memoryMb ?? 0;
  return {
    receive: of("AccountsReceiveFunction"),
    store: of("AccountsStoreFunction"),
    relay: of("RelayChanges"),
    fetch: of("FetchData"),
  };
}
