import { accessLogBytesOf } from "../../../scripts/documents/cost/access-log.ts";
import { type Bill, billOf, totalOf } from "../../../scripts/documents/cost/bill.ts";
import { idleOf, typicalOf } from "../../../scripts/documents/cost/idle.ts";
import { documentedStage, productionStage } from "../../../scripts/documents/stage-template.ts";
import { countImplementation } from "../../cost/count-implementation.ts";
import { type CountedLoad, readCounts, type Used } from "../../cost/counts.ts";
import { loads } from "../../cost/loads.ts";
import { type Implementation, implementations, parts } from "../implementations.ts";
import type { Context } from "../measurement.ts";
import { documentOf } from "../provider.ts";
import { workload } from "../workload.ts";
import { type Goal, pairedRow, type Row } from "./row.ts";

const priced = ["usual", "large", "huge", "alone"] as const;
type Priced = (typeof priced)[number];

/** What all spent on the loads that are priced, and what the stack costs without events. */
type Counted = {
  readonly loads: Readonly<Record<Priced, CountedLoad>>;
  readonly memoryMb: Readonly<Record<(typeof parts)[number], number>>;
};

/** Prices of events by the model of docs/evidence/cost.md, waits included, and how long an event waits for services. */
export async function priceRows(context: Context): Promise<readonly Row[]> {
  return rowsOf(await countAll(context), context);
}

async function countAll({ onProgress }: Context): Promise<Counted> {
  const counted = new Map(
    await Promise.all(
      implementations.map(
        async (each) => [each, await countImplementation(each, priced, onProgress)] as const,
      ),
    ),
  );
  const usedBy = (implementation: Implementation, name: Priced): Used => {
    const used = counted.get(implementation)?.used.get(name);
    if (used === undefined) throw new Error(`${name} was not counted of ${implementation}`);
    return used;
  };
  const loadOf = (name: Priced): CountedLoad => {
    const { items, ...shape } = loads[name];
    return {
      ...shape,
      deliveries: workload(shape).length,
      dataBytes: Buffer.byteLength(documentOf("", items)),
      sides: {
        ours: usedBy("ours", name),
        powertools: usedBy("powertools", name),
        plain: usedBy("plain", name),
        floor: usedBy("floor", name),
      },
    };
  };
  const ours = counted.get("ours");
  if (ours === undefined) throw new Error("ours was not counted");
  return {
    memoryMb: ours.memoryMb,
    loads: { usual: loadOf("usual"), large: loadOf("large"), huge: loadOf("huge"), alone: loadOf("alone") },
  };
}

function rowsOf({ loads: counted, memoryMb }: Counted, { prices, estimate }: Context): readonly Row[] {
  const { resources } = documentedStage();
  const accessLogBytes = accessLogBytesOf(resources);
  const billFor = (name: Priced, implementation: Implementation): Bill =>
    billOf(counted[name], implementation, prices, { memoryMb, accessLogBytes });
  const row = (
    title: Pick<Row, "name" | "figure">,
    figure: (implementation: Implementation) => number,
    goals: readonly (Goal & { readonly over: Implementation })[],
  ) =>
    pairedRow(
      title,
      [figure("ours")],
      goals.map((goal) => ({ ...goal, values: [figure(goal.over)] })),
      estimate,
    );
  const price = (name: string, load: Priced, atMost: number) =>
    row(
      { name, figure: `US$ per million events, ${figureOf(load, counted[load])}` },
      (implementation) => totalOf(billFor(load, implementation)),
      [{ over: "plain", atMost }],
    );
  const { ticks } = readCounts();
  const { resources: standing } = productionStage();
  const idle = (implementation: Implementation) =>
    idleOf(implementation === "ours" ? standing : typicalOf(standing), ticks, prices).reduce(
      (sum, line) => sum + line.dollars,
      0,
    );
  const waits = (implementation: Implementation) => {
    const { events, sides } = counted.alone;
    const used = sides[implementation];
    return (parts.reduce((sum, part) => sum + used.waits[part], 0) + used.providerWaits) / events;
  };
  return [
    {
      ...price("price", "usual", 0.68),
      lines: linesOf((implementation) => billFor("usual", implementation)),
    },
    price("price-20kb", "large", 0.45),
    price("price-200kb", "huge", 0.15),
    price("price-alone", "alone", 1.05),
    row(
      { name: "price-month", figure: "US$ for a month of 100 million events" },
      (implementation) => idle(implementation) + 100 * totalOf(billFor("usual", implementation)),
      [{ over: "plain", atMost: 0.7 }],
    ),
    row({ name: "waits-alone", figure: "requests that an event that comes alone waits for" }, waits, [
      { over: "powertools", atMost: 1 },
      { over: "plain", atMost: 1.5 },
    ]),
  ];
}

function figureOf(name: Priced, { dataBytes }: CountedLoad): string {
  if (name === "usual") return "30 % duplicates";
  return name === "alone" ? "each alone" : `documents of ${Math.round(dataBytes / 1_024)} KB`;
}

function linesOf(billFor: (implementation: Implementation) => Bill): NonNullable<Row["lines"]> {
  const bills = implementations.map((implementation) => [implementation, billFor(implementation)] as const);
  return [...billFor("ours").keys()].map((name) => ({
    name,
    bySide: Object.fromEntries(bills.map(([implementation, bill]) => [implementation, bill.get(name) ?? 0])),
  }));
}
