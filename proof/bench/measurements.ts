import { InvalidArgumentError } from "commander";
import { aloneRows, flowRows, providerCallsRows } from "./rows/flow-rows.ts";
import { growthRows, inlineRows } from "./rows/load-rows.ts";
import { priceRows } from "./rows/price-rows.ts";
import type { Context, Row } from "./rows/row.ts";
import { spendingRows } from "./rows/spending-rows.ts";
import { bundleRow, firstCallRows, importRows } from "./rows/start-rows.ts";

/** Rows that are measured together. */
export type Measurement = {
  /** Names of the rows, in the order of the table. */
  readonly rows: readonly string[];
  /** Whether it takes at most a minute. */
  readonly isQuick: boolean;
  readonly measure: (context: Context) => Promise<readonly Row[]>;
};

/** All measurements, in the order of the table. */
export const measurements: readonly Measurement[] = [
  {
    isQuick: true,
    rows: [
      ...["ddb-writes-0", "ddb-writes-30", "ddb-writes-90", "ddb-writes-duplicate"],
      ...["ddb-requests-0", "ddb-requests-30", "ddb-requests-90", "sqs-requests"],
      ...["cpu-receive", "cpu-store", "cpu-relay", "cpu-fetch", "memory-load", "secret-reads"],
    ],
    measure: spendingRows,
  },
  {
    isQuick: true,
    rows: [
      ...["price", "price-20kb", "price-200kb", "price-alone", "price-month"],
      ...["waits-alone", "waits-subscriber"],
    ],
    measure: priceRows,
  },
  {
    isQuick: true,
    rows: ["import-receive", "import-store", "memory-rest-receive", "memory-rest-store"],
    measure: importRows,
  },
  { isQuick: true, rows: ["inline-requests", "inline-writes"], measure: inlineRows },
  { isQuick: true, rows: ["first-call"], measure: firstCallRows },
  { isQuick: true, rows: ["bundle"], measure: async () => [await bundleRow()] },
  { isQuick: true, rows: ["latency-subscriber", "latency-document"], measure: aloneRows },
  { isQuick: false, rows: ["rate", "latency"], measure: flowRows },
  { isQuick: false, rows: ["provider-calls"], measure: providerCallsRows },
  { isQuick: false, rows: ["growth-writes", "growth-cpu", "growth-memory"], measure: growthRows },
];

export const rowNames: readonly string[] = measurements.flatMap(({ rows }) => rows);

/**
 * Measurements that produce these rows.
 * @throws with a remedy if a name is not a row's
 */
export function measurementsOf(names: readonly string[]): readonly Measurement[] {
  const unknown = names.filter((name) => !rowNames.includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`${unknown.join(", ")}: no such row; choose of ${rowNames.join(", ")}`);
  return measurements.filter(({ rows }) => rows.some((row) => names.includes(row)));
}
