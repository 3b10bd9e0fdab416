import { linearRegression } from "simple-statistics";
import { startImplementation } from "../drive/running-implementation.ts";
import { countEvents } from "../drive/snapshot.ts";
import { parts } from "../implementations.ts";
import { type Spending, spendingOf } from "../measure/spending.ts";
import type { Context } from "../measurement.ts";
import { startProvider } from "../provider.ts";
import { usersOf, workload } from "../workload.ts";
import { absoluteRow, type Row } from "./row.ts";
import { largestProcess } from "./spending-rows.ts";

type Point = { readonly events: number; readonly spending: Spending };

/**
 * How writes, processor time and memory of ours grow with the events, one load after the other on the same table: the
 * exponent of the power that fits best; 1 is linear.
 */
export async function growthRows({
  assemblies,
  effort,
  estimate,
  onProgress,
}: Context): Promise<readonly Row[]> {
  const { loads } = effort.growth;
  await using provider = await startProvider();
  await using ours = await startImplementation("ours", provider, { keepsMuch: true, assemblies });
  const points: Point[] = [];
  const users: string[] = [];
  // Before the first that counts the processes start and compile.
  for (const [index, events] of [Math.min(...loads), ...loads].entries()) {
    const load = workload({ seed: 6_000 + index, events, duplicates: 0 });
    users.push(...usersOf(load));
    const spending = await spendingOf(ours, load, provider.calls, {
      overlaps: true,
      onProgress: (deliveries) => {
        const isAnnounced = deliveries % 2_800 === 0 || deliveries === events;
        if (isAnnounced) onProgress(`growth, ${deliveries} of ${events} events`);
      },
    });
    if (index > 0) points.push({ events, spending });
  }
  const stored = await countEvents(ours, users);
  const wanted = loads.reduce((sum, events) => sum + events, Math.min(...loads));
  if (stored !== wanted) throw new Error(`of ${wanted} events ${stored} are stored`);

  const row = (name: string, figure: (point: Point) => number) => {
    const { m } = linearRegression(points.map((each) => [Math.log(each.events), Math.log(figure(each))]));
    const text = `exponent over ${loads.map((events) => events.toLocaleString("en")).join(", ")} events`;
    return absoluteRow({ name: `growth-${name}`, figure: text }, [m], { atMost: 1.05 }, estimate);
  };
  return [
    row("writes", ({ spending }) => spending.writeUnits),
    row("cpu", ({ spending }) => parts.reduce((sum, part) => sum + spending.spent[part].cpuMicros, 0)),
    row("memory", ({ spending }) => largestProcess(spending)),
  ];
}
