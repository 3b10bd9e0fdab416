import { implementations, titles } from "../implementations.ts";
import { shownRatio } from "./lines.ts";
import type { Origin, Results } from "./results.ts";
import type { Shortfalls } from "./shortfalls.ts";

const [begin, end] = ["<!-- results: written by npm run docs -->", "<!-- end of results -->"];

/** Puts the results into the document, between its marks. @throws where it has none */
export function withResults(document: string, results: Results, shortfalls: Shortfalls): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the document misses ${begin} or ${end}`);
  return [before, begin, "\n\n", ...partsOf(results, shortfalls), end, after].join("");
}

type RecordedRow = Results["rows"][number];

function partsOf({ rows }: Results, shortfalls: Shortfalls): readonly string[] {
  if (rows.length === 0)
    return ["No full run is recorded yet: it needs a machine that does nothing else.\n\n"];
  const short = rows.filter(({ comparisons }) => comparisons.some(({ isMet }) => !isMet));
  return [
    originsOf(rows),
    tableOf(rows),
    "![Ours over theirs, and the goals](results/ratios.svg)",
    ...rows.flatMap(linesOf),
    ...(short.length > 0
      ? ["### Short of the goal", ...short.map((row) => explanationOf(row, shortfalls))]
      : []),
  ].map((part) => `${part}\n\n`);
}

function originsOf(rows: readonly RecordedRow[]): string {
  const byOrigin = Map.groupBy(rows, ({ origin }) => sentenceOf(origin));
  return [...byOrigin]
    .map(([sentence, each]) => {
      const names = each.map(({ name }) => `\`${name}\``).join(", ");
      return byOrigin.size === 1 ? sentence : `${sentence} Of then: ${names}.`;
    })
    .join("\n\n");
}

function sentenceOf({ date, commit, machine, versions }: Origin): string {
  const made = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `Measured on ${date} at ${commit}: ${machine}; ${made.join(", ")}.`;
}

function tableOf(rows: readonly RecordedRow[]): string {
  const lines = rows.flatMap(({ name, figure: text, ours, comparisons }) =>
    comparisons.map(({ over, goal, theirs, ratio, isMet }) => {
      const interval = `${shownRatio(ratio.median, goal, isMet)} (${figure(ratio.low)} to ${figure(ratio.high)})`;
      const beside = over === "goal" ? ["", ""] : [`${figure(theirs)} (${over})`, interval];
      return [`\`${name}\``, text, figure(ours), ...beside, goal, isMet ? "ok" : "**short**"];
    }),
  );
  return [
    "| row | figure | ours | theirs | ours over theirs (95 %) | goal | |",
    "|---|---|---:|---:|---:|---:|---|",
    ...lines.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

/** What a row's figure is made of, beside that of the others. */
function linesOf({ name, figure: text, lines = [] }: RecordedRow): readonly string[] {
  if (lines.length === 0) return [];
  const sumOf = (implementation: string) =>
    lines.reduce((sum, { bySide }) => sum + (bySide[implementation] ?? 0), 0);
  const cells = (label: string, of: (implementation: string) => number) =>
    `| ${[label, ...implementations.map((implementation) => of(implementation).toFixed(2))].join(" | ")} |`;
  const table = [
    `| ${[text, ...implementations.map((implementation) => titles[implementation])].join(" | ")} |`,
    `|---|${implementations.map(() => "---:|").join("")}`,
    ...lines.map((line) => cells(line.name, (implementation) => line.bySide[implementation] ?? 0)),
    cells("in all", sumOf),
  ];
  return [`### What \`${name}\` is made of`, table.join("\n")];
}

function explanationOf({ name }: RecordedRow, shortfalls: Shortfalls): string {
  const explained = shortfalls[name];
  return explained === undefined
    ? `- \`${name}\`: not explained yet.`
    : `- \`${name}\`: ${explained.why} Tried: ${explained.tried} Needed: ${explained.needed}`;
}

function figure(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
