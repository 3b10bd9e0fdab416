import { type Implementation, implementations } from "../implementations.ts";
import type { Measured } from "../measure/rounds.ts";
import type { Spending } from "../measure/spending.ts";
import type { Estimate } from "../measure/statistics.ts";
import { type Bill, type BillOptions, billOf, totalOf } from "../price.ts";
import { pairedRow, type Row } from "./row.ts";

type PriceOptions = BillOptions & {
  readonly estimate: (values: readonly number[]) => Estimate;
};

/** The simulated price of a million events, with a line for each thing that is paid for. */
export function priceRow(measured: Measured, { estimate, ...options }: PriceOptions): Row {
  const total = (spending: Spending) => totalOf(billOf(spending, options));
  const row = pairedRow(
    { name: "price", figure: "US$ per million events, simulated" },
    measured.ours.map(total),
    [
      { over: "floor", atMost: 1.3, values: measured.floor.map(total) },
      { over: "plain", atMost: 0.5, values: measured.plain.map(total) },
    ],
    estimate,
  );
  const bills = new Map(
    implementations.map((implementation) => [
      implementation,
      measured[implementation].map((each) => billOf(each, options)),
    ]),
  );
  const line = (name: keyof Bill) => {
    const middle = (implementation: Implementation) =>
      estimate((bills.get(implementation) ?? []).map((bill) => bill[name])).median;
    return {
      name,
      bySide: Object.fromEntries(
        implementations.map((implementation) => [implementation, middle(implementation)]),
      ),
    };
  };
  return { ...row, lines: billLines.map(line) };
}

const billLines: readonly (keyof Bill)[] = [
  "api",
  "lambda requests",
  "lambda time",
  "sqs",
  "table",
  "secrets",
  "logs",
  "idle polling",
];
