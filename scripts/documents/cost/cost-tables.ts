import { type Implementation, titles } from "../../../proof/bench/implementations.ts";
import { readPrices } from "../../../proof/bench/price.ts";
import { type LoadName, readCounts } from "../../../proof/cost/counts.ts";
import { about, dollars, table } from "../markdown.ts";
import { documentedStage, productionStage } from "../stage-template.ts";
import { accessLogBytesOf } from "./access-log.ts";
import { type Bill, billOf, storageOf, totalOf } from "./bill.ts";
import { type IdleLine, idleOf, typicalOf } from "./idle.ts";

/** In the order of the tables: ours, the typical design, and what stands beside them in the benchmark. */
export const shown: readonly Implementation[] = ["ours", "plain", "powertools", "floor"];
export const headings: Readonly<Record<Implementation, string>> = { ...titles, plain: "typical (P2)" };

export const counts = readCounts();
export const prices = readPrices();

export function billFor(implementation: Implementation, name: LoadName = "usual"): Bill {
  return billOf(counts.loads[name], implementation, prices, {
    memoryMb: counts.memoryMb,
    accessLogBytes: accessLogBytesOf(documentedStage().resources),
  });
}

export function billRows(): readonly (readonly string[])[] {
  const bills = shown.map((implementation) => billFor(implementation));
  const rows = [...billFor("ours").keys()].map((name) => [
    name,
    ...bills.map((bill) => dollars(bill.get(name) ?? 0)),
  ]);
  return [...rows, ["**in all**", ...bills.map((bill) => `**${dollars(totalOf(bill))}**`)]];
}

const loadTitles: Readonly<Record<LoadName, string>> = {
  unrepeated: "none is delivered twice",
  usual: "30 % of the deliveries are duplicates",
  repeated: "90 % are",
  large: "30 %, and documents of",
  huge: "30 %, and documents of",
  alone: "30 %, each event alone: no two in a batch",
};

export function loadRows(): readonly (readonly string[])[] {
  const order: readonly LoadName[] = ["unrepeated", "usual", "repeated", "large", "huge", "alone"];
  return order.map((name) => {
    const hasSize = name === "large" || name === "huge";
    const size = hasSize ? ` ${about(counts.loads[name].dataBytes / 1_024, 2)} KB` : "";
    return [
      loadTitles[name] + size,
      ...shown.map((implementation) => dollars(totalOf(billFor(implementation, name)))),
    ];
  });
}

export function idleOurs(): readonly IdleLine[] {
  return idleOf(productionStage().resources, counts.ticks, prices);
}

export function idleTypical(): readonly IdleLine[] {
  return idleOf(typicalOf(productionStage().resources), counts.ticks, prices);
}

export function sumOf(lines: readonly IdleLine[]): number {
  return lines.reduce((sum, line) => sum + line.dollars, 0);
}

export function idleTable(): string {
  const [ours, typical] = [idleOurs(), idleTypical()];
  const rows = ours.map(({ name, count, dollars: price }, index) => {
    const theirs = typical[index];
    return [name, about(count), dollars(price), about(theirs?.count ?? 0), dollars(theirs?.dollars ?? 0)];
  });
  const total = ["**in all**", "", `**${dollars(sumOf(ours))}**`, "", `**${dollars(sumOf(typical))}**`];
  return table(["a month", "ours", "US$", "typical", "US$"], [...rows, total], 1);
}

export function storageRows(): readonly (readonly string[])[] {
  const { usual } = counts.loads;
  const [ours, typical] = [storageOf(usual, "ours", prices), storageOf(usual, "plain", prices)];
  return [
    ["events, until they expire", dollars(ours.expiring), dollars(typical.expiring)],
    ["states, data and what belongs to them, for good", dollars(ours.staying), dollars(typical.staying)],
  ];
}

export function monthRows(): readonly (readonly string[])[] {
  const month = (events: number, perMillion: number, idle: readonly IdleLine[]) =>
    dollars(sumOf(idle) + (events / 1_000_000) * perMillion);
  const { usual, alone } = { usual: "usual", alone: "alone" } as const;
  // A million in a month is one in three seconds: nearly each comes alone.
  return (
    [
      [10_000, alone],
      [1_000_000, alone],
      [100_000_000, usual],
    ] as const
  ).map(([events, name]) => [
    `${about(events)}, ${name === alone ? "each alone" : "in batches"}`,
    month(events, totalOf(billFor("ours", name)), idleOurs()),
    month(events, totalOf(billFor("plain", name)), idleTypical()),
  ]);
}
