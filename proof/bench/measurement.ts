import type { Assemblies } from "./assemblies.ts";
import type { Effort } from "./effort.ts";
import type { Estimate } from "./measure/statistics.ts";
import type { Prices } from "./price.ts";
import type { Row } from "./rows/row.ts";

/** What all measurements of a run share. */
export type Context = {
  readonly effort: Effort;
  readonly assemblies: Assemblies;
  readonly prices: Prices;
  readonly estimate: (values: readonly number[]) => Estimate;
  readonly onProgress: (step: string) => void;
};

/** Rows that are measured together. */
export type Measurement = {
  /** Their names, in the order of the table. */
  readonly rows: readonly string[];
  /** Whether it fits into a run of some minutes. */
  readonly isQuick: boolean;
  readonly measure: (context: Context) => Promise<readonly Row[]>;
};
