import { type Implementation, implementations, titles } from "../implementations.ts";
import type { Row } from "../rows/row.ts";
import { shownRatio } from "./lines.ts";

const [width, rowHeight, top, bottom] = [900, 22, 74, 44];
/** Of the plot itself, between the names and the figures. */
const [left, right] = [250, 770];
const colours = {
  ok: "#1f7a4d",
  short: "#b3401f",
  goal: "#dcefe4",
  grid: "#e4e4e4",
  text: "#333",
  faint: "#777",
};

type Point = {
  readonly name: string;
  readonly over: string;
  readonly ratio: { readonly median: number; readonly low: number; readonly high: number };
  readonly limit: number;
  readonly goal: string;
  readonly isMet: boolean;
};

/**
 * Each ratio with its interval on a logarithmic scale, as an SVG: left of 1 ours needs less than theirs. Where the goal
 * is met is tinted. Rows whose goal is a number of its own are in the table only.
 */
export function plotOf(rows: readonly Pick<Row, "name" | "comparisons">[]): string {
  const points = rows.flatMap(({ name, comparisons }) =>
    comparisons
      .filter(({ over }) => over !== "goal")
      .map((each): Point => ({ ...each, name, limit: Number(each.goal.slice(2)) })),
  );
  const scale = scaleOf(points);
  const height = top + points.length * rowHeight + bottom;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    "<title>Ours over theirs, with intervals of 95 %, and the goals</title>",
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(20, 26, "Ours over theirs", { size: 16, weight: 600 }),
    text(20, 46, "median and interval of 95 %, logarithmic; tinted: where the goal is met", {
      fill: colours.faint,
    }),
    text(left, top - 8, "← ours needs less", { fill: colours.faint }),
    text(right, top - 8, "ours needs more →", { fill: colours.faint, anchor: "end" }),
    ...points.flatMap((point, index) => tint(point, top + index * rowHeight, scale)),
    ...scale.ticks.flatMap((tick) => gridLine(tick, scale.at(tick), top, height - bottom)),
    ...points.flatMap((point, index) =>
      lineOf(point, points[index - 1], top + (index + 0.5) * rowHeight, scale),
    ),
    "</svg>",
    "",
  ].join("\n");
}

type Scale = { readonly at: (ratio: number) => number; readonly ticks: readonly number[] };

function scaleOf(points: readonly Point[]): Scale {
  const all = points.flatMap(({ ratio, limit }) => [ratio.low, ratio.high, limit]).filter((each) => each > 0);
  const first = Math.floor(Math.log2(Math.min(0.25, ...all)));
  const last = Math.ceil(Math.log2(Math.max(2, ...all)));
  const share = (ratio: number) => (Math.log2(Math.max(ratio, 2 ** first)) - first) / (last - first);
  return {
    at: (ratio) => left + share(ratio) * (right - left),
    ticks: Array.from({ length: last - first + 1 }, (_, index) => 2 ** (first + index)),
  };
}

function tint({ goal, limit }: Point, y: number, { at }: Scale): readonly string[] {
  const [from, to] = goal.startsWith("≥") ? [at(limit), right] : [left, at(limit)];
  const box = `x="${round(from)}" y="${y + 2}" width="${round(to - from)}" height="${rowHeight - 4}"`;
  return [`<rect ${box} fill="${colours.goal}"/>`];
}

function gridLine(tick: number, x: number, from: number, to: number): readonly string[] {
  const colour = tick === 1 ? colours.faint : colours.grid;
  const label = tick < 1 ? `1/${1 / tick}` : String(tick);
  return [
    `<line x1="${round(x)}" y1="${from}" x2="${round(x)}" y2="${to}" stroke="${colour}"/>`,
    text(x, to + 18, label, { anchor: "middle", fill: colours.faint }),
  ];
}

function lineOf(point: Point, above: Point | undefined, y: number, { at }: Scale): readonly string[] {
  const { name, over, ratio, goal, isMet } = point;
  const colour = isMet ? colours.ok : colours.short;
  const [low, high, middle] = [at(ratio.low), at(ratio.high), at(ratio.median)].map(round);
  const isNamed = above?.name !== name;
  return [
    ...(isNamed ? [text(20, y + 4, name, { weight: 600 })] : []),
    text(left - 12, y + 4, `over ${titleOf(over)}`, { anchor: "end", fill: colours.faint }),
    `<line x1="${low}" y1="${y}" x2="${high}" y2="${y}" stroke="${colour}" stroke-width="2"/>`,
    `<circle cx="${middle}" cy="${y}" r="4.5" fill="${colour}"/>`,
    text(right + 14, y + 4, shownRatio(ratio.median, goal, isMet), { fill: colour, weight: 600 }),
    text(right + 54, y + 4, goal, { fill: colours.faint }),
  ];
}

/** `P1` of `P1 (Powertools)`. */
function titleOf(over: string): string {
  const implementation = implementations.find((each): each is Implementation => each === over);
  return implementation === undefined ? over : (titles[implementation].split(" ")[0] ?? over);
}

type TextStyle = {
  readonly anchor?: "middle" | "end";
  readonly fill?: string;
  readonly size?: number;
  readonly weight?: number;
};

function text(
  x: number,
  y: number,
  content: string,
  { anchor, fill = colours.text, size, weight }: TextStyle,
): string {
  const style = [
    `x="${round(x)}" y="${y}" fill="${fill}"`,
    ...(anchor === undefined ? [] : [`text-anchor="${anchor}"`]),
    ...(size === undefined ? [] : [`font-size="${size}"`]),
    ...(weight === undefined ? [] : [`font-weight="${weight}"`]),
  ];
  return `<text ${style.join(" ")}>${content}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
