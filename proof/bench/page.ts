import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { about, beginOf, dollars, table, withBlocks } from "../../scripts/documents/markdown.ts";
import {
  dashboardStage,
  documentedSettings,
  documentedStage,
  productionStage,
  type Resource,
} from "../../scripts/documents/stage-template.ts";
import { limitsOf, quotasDate } from "./capacity.ts";
import { type Implementation, titles } from "./implementations.ts";
import { rowNames } from "./measurements.ts";
import { accessLogBytesOf, type Bill, billOf, floodOf, totalOf } from "./price/bill.ts";
import type { LoadName } from "./price/count.ts";
import { type Counts, readCounts } from "./price/counts.ts";
import { busyMetricsOf, type IdleLine, idleOf, sumOf, typicalOf } from "./price/idle.ts";
import { prices } from "./price/prices.ts";
import { type Row, shownRatio } from "./rows/row.ts";
import { workload } from "./workload.ts";

export const pageFile = join(import.meta.dirname, "../../docs/evidence/cost-and-capacity.md");

/**
 * Updates all tables of the page that are calculated from counts, prices, quotas, settings and the template.
 */
export function withCalculations(page: string): string {
  return withBlocks(page, calculations(), "bench");
}

const resultsHead = "row|figure|ours|theirs|ours over theirs|goal||rounds|measured".split("|");

/** Replaces rows of the page by name, in the order of the benchmark. */
function withRows(page: string, rows: readonly Row[], origin: string): string {
  const [, block = ""] = page.split(beginOf("results", "bench"));
  const lines = block
    .slice(0, block.indexOf("<!-- end -->"))
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const nameOf = (line: string) => line.split("`")[1] ?? "";
  const replaced = new Set(rows.map(({ name }) => name));
  const kept = lines.filter((line) => rowNames.includes(nameOf(line)) && !replaced.has(nameOf(line)));
  const added = rows.flatMap((row) => cellsOf(row, origin)).map((cells) => `| ${cells.join(" | ")} |`);
  const all = [...kept, ...added].sort(
    (one, other) => rowNames.indexOf(nameOf(one)) - rowNames.indexOf(nameOf(other)),
  );
  return withBlocks(page, { results: [table(resultsHead, []), ...all].join("\n") }, "bench");
}

function cellsOf({ name, figure, ours, rounds, comparisons }: Row, origin: string) {
  return comparisons.map((each) => {
    const beside =
      each.theirs === undefined ? ["", ""] : [`${about(each.theirs)} (${each.over})`, shownRatio(each)];
    const isMet = each.isMet ? "ok" : "**short**";
    return [`\`${name}\``, figure, about(ours), ...beside, each.goal, isMet, String(rounds), origin];
  });
}

/** Writes measured rows, if any, and the tables calculated from the counts. */
export function updatePage(rows: readonly Row[] = [], origin = ""): void {
  writeFileSync(pageFile, withCalculations(withRows(readFileSync(pageFile, "utf8"), rows, origin)));
}

/** Order of the tables. */
const shown: readonly Implementation[] = ["ours", "plain", "powertools", "floor"];

const loadTitles: Readonly<Record<LoadName, string>> = {
  unrepeated: "no duplicates",
  usual: "30 % of the deliveries are duplicates",
  repeated: "90 % are duplicates",
  large: "30 %, and documents of 18 KB",
  huge: "30 %, and documents of 181 KB",
  alone: "30 %, and each event arrives alone: no batch holds two",
};

function calculations(): Readonly<Record<string, string>> {
  const { rows, origin } = readCounts();
  const countsOf = (load: LoadName, implementation: Implementation): Counts => {
    const counts = rows.get(`${load}/${implementation}`);
    if (counts === undefined) throw new Error(`${load}/${implementation} was never counted`);
    return counts;
  };
  const accessLogBytes = accessLogBytesOf(documentedStage());
  return {
    sources: `Counted on ${origin}; prices of ${prices.region} on ${prices.date}; quotas on ${quotasDate}.`,
    ...costs((load, each) => billOf(countsOf(load, each), each, accessLogBytes)),
    flood: floodTable(accessLogBytes),
    limits: limitsTable(countsOf("usual", "ours")),
  };
}

function costs(billFor: (load: LoadName, implementation: Implementation) => Bill) {
  const heads = shown.map((implementation) => titles[implementation]);
  const perLine = (name: string) => shown.map((each) => dollars(billFor("usual", each).get(name) ?? 0));
  const perLoad = (load: LoadName) => shown.map((each) => dollars(totalOf(billFor(load, each))));
  const resources = productionStage();
  const idle = { ours: idleOf(resources), plain: idleOf(typicalOf(resources)) };
  const more = (among: readonly Resource[]) => dollars(busyMetricsOf(among));
  const shownOnDashboard = idleOf(dashboardStage());
  const months = (["ours", "plain"] as const).map((each) => {
    const price = (load: LoadName) => totalOf(billFor(load, each));
    const standing = sumOf(idle[each].map((line) => line.dollars));
    return [
      standing,
      standing + price("alone") / 100,
      standing + price("alone"),
      standing + 100 * price("usual"),
    ];
  });
  const monthTitles = ["no events", "10,000, each alone", "1,000,000, each alone", "100,000,000, in batches"];
  return {
    events: table(
      ["US$ per million events", ...heads],
      [
        ...[...billFor("usual", "ours").keys()].map((name) => [name, ...perLine(name)]),
        ["**in all**", ...perLoad("usual").map((each) => `**${each}**`)],
      ],
      1,
    ),
    loads: table(
      ["US$ per million events", ...heads],
      Object.entries(loadTitles).map(([load, title]) => [title, ...perLoad(load as LoadName)]),
      1,
    ),
    idle: `${idleTable(idle.ours, shownOnDashboard, idle.plain)}

In a busy month, with values in every hour, custom metrics cost US$ ${more(resources)} more, with the dashboard ${more(dashboardStage())}.`,
    months: table(
      ["events in a month", "US$, ours", titles.plain],
      monthTitles.map((title, index) => [title, ...months.map((each) => dollars(each[index] ?? 0))]),
      1,
    ),
  };
}

/** The default throttle, and ten times as much, which a busy stage may set. */
function floodTable(accessLogBytes: number): string {
  const { requestsPerSecond } = documentedSettings().webhooks.throttle;
  const rows = [requestsPerSecond, 10 * requestsPerSecond].map((rate) => {
    const { requests, apiDollars, otherDollars } = floodOf(rate, accessLogBytes);
    return [String(rate), about(requests), dollars(apiDollars), dollars(otherDollars)];
  });
  const heads = [
    "`webhooks.throttle.requestsPerSecond`",
    "requests a day",
    "US$, API Gateway",
    "US$, Lambda's requests and the access log",
  ];
  return table(heads, rows);
}

function idleTable(...designs: readonly (readonly IdleLine[])[]): string {
  const [names = []] = designs;
  const rows = names.map(({ name }, index) => [
    name,
    ...designs.flatMap((lines) => [about(lines[index]?.count ?? 0), dollars(lines[index]?.dollars ?? 0)]),
  ]);
  const totals = designs.map((lines) => dollars(sumOf(lines.map((line) => line.dollars))));
  const all = ["**in all**", ...totals.flatMap((total) => ["", `**${total}**`])];
  const heads = ["ours", "US$", "with the dashboard", "US$", titles.plain, "US$"];
  return table(["a month", ...heads], [...rows, all], 1);
}

function limitsTable(usual: Counts): string {
  const kinds = Object.groupBy(
    workload({ seed: 41, events: usual.events, duplicates: 0.3 }),
    ({ kind }) => kind,
  );
  const busiest = Math.max(...Object.values(kinds).map((deliveries) => deliveries.length));
  const limits = limitsOf(documentedSettings(), usual, busiest / usual.deliveries);
  const rows = limits.map((each) => [each.name, each.value, about(each.eventsPerSecond, 2), each.type]);
  return table(["limit", "value", "events a second", "type"], rows);
}
