import type { Row } from "../rows/row.ts";

/** One line for each goal of a row: `name ours-over-peer goal ok|short`. */
export function lineOf({ name, comparisons }: Row): readonly string[] {
  return comparisons.map(({ over, ratio, goal, isMet }) => {
    const title = comparisons.length > 1 ? `${name}/${over}` : name;
    return `${title} ${ratio.median.toFixed(2)} ${goal.replace(" ", "")} ${isMet ? "ok" : "short"}`;
  });
}
