import type { Measurement } from "./measurement.ts";
import { bundleRow } from "./rows/bundle-row.ts";
import { firstCallRow } from "./rows/first-call-row.ts";
import { flowRows } from "./rows/flow-rows.ts";
import { growthRows } from "./rows/growth-rows.ts";
import { importRows } from "./rows/import-rows.ts";
import { inlineRows } from "./rows/inline-rows.ts";
import { priceRows } from "./rows/price-rows.ts";
import { providerCallsRow } from "./rows/provider-calls-row.ts";
import { spendingRows } from "./rows/spending-rows.ts";

/** All that can be measured, in the order of the table; rows of one come from the same rounds. */
export const measurements = [
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
    rows: ["price", "price-20kb", "price-200kb", "price-alone", "price-month", "waits-alone"],
    measure: priceRows,
  },
  {
    isQuick: true,
    rows: ["import-receive", "import-store", "memory-rest-receive", "memory-rest-store"],
    measure: importRows,
  },
  { isQuick: true, rows: ["inline-requests", "inline-writes"], measure: inlineRows },
  { isQuick: true, rows: ["first-call"], measure: async (context) => [await firstCallRow(context)] },
  { isQuick: true, rows: ["bundle"], measure: async (context) => [bundleRow(context)] },
  { isQuick: false, rows: ["rate", "latency"], measure: flowRows },
  {
    isQuick: false,
    rows: ["provider-calls"],
    measure: async (context) => [await providerCallsRow(context)],
  },
  { isQuick: false, rows: ["growth-writes", "growth-cpu", "growth-memory"], measure: growthRows },
] as const satisfies readonly Measurement[];

export const rowNames: readonly string[] = measurements.flatMap(({ rows }) => rows);

/** What must be measured to have these rows. @throws with a remedy where a name is no row's */
export function measurementsOf(names: readonly string[]): readonly Measurement[] {
  const unknown = names.filter((name) => !rowNames.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${unknown.join(", ")}: no such row; choose of ${rowNames.join(", ")}`);
  }
  return measurements.filter(({ rows }) => rows.some((row) => names.includes(row)));
}
