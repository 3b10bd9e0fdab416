import type { Context } from "../context.ts";
import { type RunningImplementation, startImplementation } from "../drive/running-implementation.ts";
import { asFastAsPossible, evenly, flowThrough } from "../measure/flow.ts";
import { type FaultAt, startProvider } from "../provider.ts";
import { median, quantile } from "../statistics.ts";
import { workload } from "../workload.ts";
import { type Row, rowOf } from "./row.ts";

const drained = { deadline: 180_000 };
const latencyRounds = 3;

/**
 * The whole way from the webhooks' API to the subscriber's queue, with event sources as they are synthesized: the highest
 * rate, and the time that an event takes at half of it.
 */
export async function flowRows({ effort, onProgress }: Context): Promise<readonly Row[]> {
  const { events, rounds } = effort.flow;
  await using provider = await startProvider();
  const options = { hasEventSources: true, processes: 2, keepsMuch: true };
  await using ours = await startImplementation("ours", provider, options);
  await using theirs = await startImplementation("powertools", provider, options);
  let seed = 0;
  const load = () => {
    seed += 1;
    return workload({ seed, events, duplicates: 0 });
  };
  const perSecond = async (running: RunningImplementation) => {
    const { seconds } = await flowThrough(running, load(), asFastAsPossible);
    await running.stack.drained(drained);
    return events / seconds;
  };
  const rates: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const pair = { ours: await perSecond(ours), theirs: await perSecond(theirs) };
    onProgress(`highest rate, round ${round} of ${rounds}`);
    // In the first the processes start.
    if (round === 0) continue;
    rates.ours.push(pair.ours);
    rates.theirs.push(pair.theirs);
  }
  const half = median(rates.ours) / 2;
  const tails: number[] = [];
  for (let round = 1; round <= latencyRounds; round += 1) {
    const { latencies } = await flowThrough(ours, load(), evenly(half));
    await ours.stack.drained(drained);
    const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
    onProgress(`latency at ${half.toFixed(0)} a second: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
    tails.push(p99 / p50);
  }
  return [
    rowOf("rate", "events a second, webhook to subscriber", rates.ours, [
      { over: "powertools", atLeast: 1.3, values: rates.theirs },
    ]),
    rowOf("latency", "p99 over p50, webhook to subscriber, at half of the highest rate", tails, [
      { atMost: 3 },
    ]),
  ];
}

/** The provider first asks to slow down and later is down, by the milliseconds since the first call. */
const schedule: FaultAt = (millis) => {
  if (millis >= 1_000 && millis < 5_000) return { status: 429, headers: { "retry-after": "2" } };
  if (millis >= 8_000 && millis < 18_000) return { status: 503 };
  return undefined;
};

/**
 * Calls to the provider, over the least possible: one for each account that was connected and each endpoint that has data,
 * and one to find out about each fault.
 */
export async function providerCallsRows({ effort, onProgress }: Context): Promise<readonly Row[]> {
  await using provider = await startProvider(schedule);
  await using ours = await startImplementation("ours", provider, { hasEventSources: true, processes: 2 });
  const load = workload({ seed: 77, events: effort.providerCalls.events, duplicates: 0 });
  const least = load.filter(({ body }) => /connect_account|update_endpoint/.test(body)).length + 2;
  await flowThrough(ours, load, asFastAsPossible);
  await ours.stack.drained(drained);
  onProgress(`${provider.calls()} calls to the provider, ${least} at least`);
  return [
    rowOf(
      "provider-calls",
      "calls over the least possible, with 429s and an outage",
      [provider.calls() / least],
      [{ atMost: 1.1 }],
    ),
  ];
}
