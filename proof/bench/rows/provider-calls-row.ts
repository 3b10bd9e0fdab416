import { startImplementation } from "../drive/running-implementation.ts";
import { asFastAsPossible, flowThrough } from "../measure/flow.ts";
import type { Context } from "../measurement.ts";
import { type FaultAt, startProvider } from "../provider.ts";
import { workload } from "../workload.ts";
import { absoluteRow, type Row } from "./row.ts";

/** Ends of the phases, in ms after the first call. */
const [wellUntil, throttledUntil, wellAgainUntil, downUntil] = [1_000, 5_000, 8_000, 18_000];
const drainMs = 180_000;

/** First it asks to go slower, later it is down. */
const schedule: FaultAt = (millis) => {
  if (millis >= wellUntil && millis < throttledUntil) return { status: 429, headers: { "retry-after": "2" } };
  if (millis >= wellAgainUntil && millis < downUntil) return { status: 503 };
  return undefined;
};

/**
 * How many calls events cost while the provider asks to go slower for a while, and is down for a while. The least possible
 * is one call for each account that was connected and one for each endpoint that has data, and one to find out each time.
 */
export async function providerCallsRow({ assemblies, effort, estimate, onProgress }: Context): Promise<Row> {
  await using provider = await startProvider(schedule);
  await using ours = await startImplementation("ours", provider, {
    hasEventSources: true,
    processes: 2,
    assemblies,
  });
  const load = workload({ seed: 77, events: effort.providerCalls.events, duplicates: 0 });
  const needed = load.filter(({ body }) => /connect_account|update_endpoint/.test(body)).length;
  await flowThrough(ours, load, asFastAsPossible);
  await ours.stack.drained({ deadline: drainMs });
  const least = needed + 2;
  onProgress(`${provider.calls()} calls to the provider, ${least} at least`);
  return absoluteRow(
    { name: "provider-calls", figure: "calls over the least possible, with 429s and an outage" },
    [provider.calls() / least],
    { atMost: 1.1 },
    estimate,
  );
}
