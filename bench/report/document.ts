import type { Row } from "../rows/row.ts";

/** What a run was made on; without it figures say nothing. */
export type Results = {
  readonly date: string;
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
};

const [begin, end] = ["<!-- results: written by npm run bench -- --document -->", "<!-- end of results -->"];

/** Puts the results into the document, between its marks. @throws where it has none */
export function withResults(document: string, results: Results): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the document misses ${begin} or ${end}`);
  return [before, begin, "\n\n", tableOf(results), "\n\n", end, after].join("");
}

function tableOf({ date, machine, versions, rows }: Results): string {
  const made = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const lines = rows.flatMap((row) =>
    row.comparisons.map(({ over, goal, theirs, ratio, isMet }) =>
      over === "goal"
        ? [row.name, row.figure, figure(row.ours), "", "", goal, isMet ? "ok" : "short"]
        : [
            row.name,
            row.figure,
            figure(row.ours),
            `${figure(theirs)} (${over})`,
            `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)})`,
            goal,
            isMet ? "ok" : "short",
          ],
    ),
  );
  return [
    `Measured on ${date}: ${machine}; ${made.join(", ")}.`,
    "",
    "| row | figure | ours | theirs | ours over theirs (95 %) | goal | |",
    "|---|---|---:|---:|---:|---:|---|",
    ...lines.map((cells) => `| ${cells.join(" | ")} |`),
    "",
    "![Ours over theirs, and the goals](results/ratios.svg)",
  ].join("\n");
}

function figure(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
