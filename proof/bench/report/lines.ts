import { isMetBy, type Row } from "../rows/row.ts";

/** One line for each goal of a row: `name/peer ours-over-peer goal ok|short`, without a peer where the goal is a number of its own. */
export function lineOf({ name, comparisons }: Row): readonly string[] {
  return comparisons.map(({ over, ratio, goal, isMet }) => {
    const title = over === "goal" ? name : `${name}/${over}`;
    return `${title} ${shownRatio(ratio.median, goal, isMet)} ${goal.replace(" ", "")} ${isMet ? "ok" : "short"}`;
  });
}

/** With two digits, or as many as show on which side of the goal it is. */
export function shownRatio(ratio: number, goal: string, isMet: boolean): string {
  const digits = [2, 3, 4].find((count) => isMetBy(Number(ratio.toFixed(count)), goal) === isMet);
  return ratio.toFixed(digits ?? 6);
}
