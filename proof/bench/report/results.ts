import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { rowNames } from "../measurements.ts";
import type { Row } from "../rows/row.ts";

const interval = z.object({ median: z.number(), low: z.number(), high: z.number() });
const row = z.object({
  name: z.string(),
  figure: z.string(),
  ours: z.number(),
  samples: z.array(z.number()),
  comparisons: z.array(
    z.object({
      over: z.string(),
      goal: z.string(),
      theirs: z.number(),
      samples: z.array(z.number()),
      ratio: interval,
      isMet: z.boolean(),
    }),
  ),
  lines: z.array(z.object({ name: z.string(), bySide: z.record(z.string(), z.number()) })).exactOptional(),
});

/** What a row was measured on; without it figures say nothing. */
const origin = z.object({
  date: z.iso.date(),
  /** Of the repository; with `+` where files were changed. */
  commit: z.string(),
  machine: z.string(),
  versions: z.record(z.string(), z.string()),
});
export type Origin = z.output<typeof origin>;

/** Rows of one run or of several: a row may be measured again by itself. */
const results = z.object({ rows: z.array(row.extend({ origin })) });
export type Results = z.output<typeof results>;

/** Results of a file; none where it is not there. @throws where it holds something else */
export function readResults(file: string): Results {
  return existsSync(file) ? results.parse(JSON.parse(readFileSync(file, "utf8"))) : { rows: [] };
}

export function writeResults(file: string, written: Results): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(written, undefined, 1)}\n`);
}

/** With rows that were measured in the place of those of the same name, in the order of the table. */
export function merged({ rows }: Results, measured: readonly Row[], measuredOn: Origin): Results {
  const replaced = new Set(measured.map(({ name }) => name));
  const kept = rows.filter(({ name }) => !replaced.has(name) && rowNames.includes(name));
  const added = measured.map((each) => row.extend({ origin }).parse({ ...each, origin: measuredOn }));
  const place = ({ name }: { name: string }) => rowNames.indexOf(name);
  return { rows: [...kept, ...added].sort((a, b) => place(a) - place(b)) };
}
