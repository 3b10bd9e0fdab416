import { quantile } from "simple-statistics";
import { type RunningImplementation, startImplementation } from "../drive/running-implementation.ts";
import { titles } from "../implementations.ts";
import { asFastAsPossible, evenly, flowThrough } from "../measure/flow.ts";
import type { Context } from "../measurement.ts";
import { startProvider } from "../provider.ts";
import { workload } from "../workload.ts";
import { absoluteRow, pairedRow, type Row } from "./row.ts";

const drainMs = 120_000;
const latencyRounds = 3;

/**
 * The whole way, from the webhooks' API to the subscriber's queue, with event sources as they are synthesized: how much
 * goes through at most, and how long an event takes while half of that comes in.
 */
export async function flowRows(context: Context): Promise<readonly Row[]> {
  const { assemblies, effort, estimate, onProgress } = context;
  const { events, rounds } = effort.flow;
  await using provider = await startProvider();
  const options = { hasEventSources: true, processes: 2, keepsMuch: true, assemblies };
  await using ours = await startImplementation("ours", provider, options);
  await using theirs = await startImplementation("powertools", provider, options);
  let seed = 0;
  const load = () => {
    seed += 1;
    return workload({ seed, events, duplicates: 0 });
  };
  const perSecond = async (running: RunningImplementation) => {
    const { seconds } = await flowThrough(running, load(), asFastAsPossible);
    await running.stack.drained({ deadline: drainMs });
    return events / seconds;
  };
  const rates: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const pair = { ours: await perSecond(ours), theirs: await perSecond(theirs) };
    onProgress(`highest rate, round ${round} of ${rounds}, ${titles.ours} and ${titles.powertools}`);
    // In the first the processes start.
    if (round === 0) continue;
    rates.ours.push(pair.ours);
    rates.theirs.push(pair.theirs);
  }
  const half = estimate(rates.ours).median / 2;
  const tails: number[] = [];
  for (let round = 1; round <= latencyRounds; round += 1) {
    const { latencies } = await flowThrough(ours, load(), evenly(half));
    await ours.stack.drained({ deadline: drainMs });
    const [p50, p99] = [quantile([...latencies], 0.5), quantile([...latencies], 0.99)];
    onProgress(`latency at ${half.toFixed(0)} a second: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
    tails.push(p99 / p50);
  }
  return [
    pairedRow(
      { name: "rate", figure: "events a second, webhook to subscriber" },
      rates.ours,
      [{ over: "powertools", atLeast: 1.3, values: rates.theirs }],
      estimate,
    ),
    absoluteRow(
      { name: "latency", figure: "p99 over p50, webhook to subscriber, at half of the highest rate" },
      tails,
      { atMost: 3 },
      estimate,
    ),
  ];
}
