import type { Implementation } from "../../../proof/bench/implementations.ts";
import { legend, svgOf } from "../chart.ts";
import { billFor } from "./cost-tables.ts";

const rows: readonly (readonly [Implementation, string])[] = [
  ["floor", "floor"],
  ["powertools", "Powertools (P1)"],
  ["plain", "typical (P2)"],
  ["ours", "ours"],
];

/** What a million events cost, by line. */
export function costChart(): string {
  const bills = rows.map(([implementation]) => billFor(implementation));
  const lines = [...billFor("ours").keys()].filter((name) => bills.some((bill) => (bill.get(name) ?? 0) > 0));
  return svgOf(
    "US$ for a million events, by line",
    {
      grid: { left: 120, right: 30, top: 115, bottom: 50 },
      legend,
      xAxis: { type: "value", name: "US$ per million events", nameLocation: "middle", nameGap: 30 },
      yAxis: { type: "category", data: rows.map(([, title]) => title), axisTick: { show: false } },
      series: lines.map((name) => ({
        name,
        type: "bar",
        stack: "bill",
        barWidth: 26,
        data: bills.map((bill) => Math.round((bill.get(name) ?? 0) * 1_000) / 1_000),
      })),
    },
    { width: 860, height: 345 },
  );
}
