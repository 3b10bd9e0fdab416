import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Row } from "../rows/row.ts";

/** Why a row is short of its goal, in sentences. */
const shortfall = z.object({ why: z.string(), tried: z.string(), needed: z.string() });
const shortfalls = z.record(z.string(), shortfall);
export type Shortfalls = z.output<typeof shortfalls>;

/** @throws where the file misses a part */
export function readShortfalls(file = join(import.meta.dirname, "../shortfalls.json")): Shortfalls {
  return shortfalls.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** Where rows and explanations don't go together: a line for each. */
export function unexplained(
  rows: readonly Pick<Row, "name" | "comparisons">[],
  explained: Shortfalls,
): readonly string[] {
  return rows.flatMap(({ name, comparisons }) => {
    const isShort = comparisons.some(({ isMet }) => !isMet);
    if (isShort && explained[name] === undefined)
      return [`${name} is short: say why in proof/bench/shortfalls.json`];
    if (!isShort && explained[name] !== undefined)
      return [`${name} is not short: take it from proof/bench/shortfalls.json`];
    return [];
  });
}
