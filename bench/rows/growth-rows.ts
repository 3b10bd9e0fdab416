import { linearRegression } from "simple-statistics";
import { startSide } from "../drive/running-side.ts";
import { type Spending, spendingOf } from "../measure/spending.ts";
import { billOf, type Prices, totalOf } from "../price.ts";
import { startProvider } from "../provider.ts";
import { workload } from "../workload.ts";
import { absoluteRow, type Row } from "./row.ts";
import { memoryOf } from "./spending-rows.ts";

type GrowthOptions = {
  /** How many events, one load after the other on the same table. */
  readonly loads: readonly number[];
  readonly prices: Prices;
  readonly onProgress: (step: string) => void;
};

/** How cost, processor time and memory grow with the events: the exponent of the power that fits best; 1 is linear. */
export async function growthRows({ loads, prices, onProgress }: GrowthOptions): Promise<readonly Row[]> {
  await using provider = await startProvider();
  await using ours = await startSide("ours", provider);
  const found: { readonly events: number; readonly spending: Spending }[] = [];
  for (const [index, events] of loads.entries()) {
    const load = workload({ seed: 5_000 + index, events, duplicates: 0.3 });
    found.push({ events, spending: await spendingOf(ours, load, provider.calls) });
    onProgress(`growth, ${events} events`);
  }
  const memory = memoryOf([ours]);
  const exponent = (figure: (each: (typeof found)[number]) => number) =>
    linearRegression(found.map((each) => [Math.log(each.events), Math.log(figure(each))])).m;
  const row = (name: string, figure: (each: (typeof found)[number]) => number) =>
    absoluteRow(`growth-${name}`, `exponent over ${loads.join(", ")} events`, exponent(figure), 1.05);
  return [
    row("price", ({ events, spending }) => totalOf(billOf(spending, events, prices, memory)) * events),
    row("cpu", ({ spending }) =>
      Object.values(spending.spent).reduce((sum, { cpuMicros }) => sum + cpuMicros, 0),
    ),
    row("memory", ({ spending }) =>
      Math.max(...Object.values(spending.spent).map((part) => part.maxResidentBytes)),
    ),
  ];
}
