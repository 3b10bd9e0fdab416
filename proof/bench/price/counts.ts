import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parts } from "../implementations.ts";

const perPart = ["Invocations", "CpuMicros", "Waits"] as const;
const ofParts = parts.flatMap((part) => perPart.map((figure) => `${part}${figure}` as const));

/**
 * What one implementation used for one load, as totals. `…Waits` is how often its functions began to wait for AWS or for the
 * provider; simultaneous calls are one wait. Requests to SQS are counted as it bills them.
 */
const counts = z.record(
  z.enum([
    ...(["events", "deliveries", "dataBytes"] as const),
    ...ofParts,
    ...(["providerWaits", "providerCalls", "sqsRequests", "fifoRequests", "tableRequests"] as const),
    ...(["writeUnits", "readUnits", "objectPuts", "objectGets", "logBytes"] as const),
    ...(["expiringBytes", "stayingBytes"] as const),
  ]),
  z.coerce.number(),
);
export type Counts = Readonly<z.output<typeof counts>>;

/** One run of what a schedule invokes, on a stack with nothing to do. */
const tick = z.record(
  z.enum([
    ...(["cpuMicros", "memoryMb", "sqsRequests", "tableRequests"] as const),
    ...(["secretCalls", "objectPuts", "objectGets", "logBytes"] as const),
  ]),
  z.coerce.number(),
);
export type Tick = Readonly<z.output<typeof tick>>;

/** Figures by what was counted, with the date and the machine. */
type Table<Figures> = { readonly origin: string; readonly rows: ReadonlyMap<string, Figures> };

/** By load and implementation, such as `usual/ours`. */
export function readCounts(): Table<Counts> {
  return read("counts.csv", counts);
}

/** By the logical id of a scheduled function without its hash. */
export function readTicks(): Table<Tick> {
  return read("ticks.csv", tick);
}

export function writeCounts(origin: string, rows: ReadonlyMap<string, Counts>): void {
  write("counts.csv", origin, rows);
}

export function writeTicks(origin: string, rows: ReadonlyMap<string, Tick>): void {
  write("ticks.csv", origin, rows);
}

const pathOf = (file: string) => join(import.meta.dirname, file);

function read<Figures>(file: string, figures: z.ZodType<Figures>): Table<Figures> {
  const [origin = "", head = "", ...lines] = readFileSync(pathOf(file), "utf8").trimEnd().split("\n");
  const columns = head.split(",").slice(1);
  const rows = lines.map((line) => {
    const [name = "", ...cells] = line.split(",");
    const entries = columns.map((column, index) => [column, cells[index]] as const);
    return [name, figures.parse(Object.fromEntries(entries))] as const;
  });
  return { origin: origin.slice("# ".length), rows: new Map(rows) };
}

function write(
  file: string,
  origin: string,
  rows: ReadonlyMap<string, Readonly<Record<string, number>>>,
): void {
  const columns = Object.keys([...rows.values()][0] ?? {});
  const lines = [...rows].map(([name, figures]) =>
    [name, ...columns.map((column) => figures[column])].join(","),
  );
  const text = [`# ${origin}`, ["name", ...columns].join(","), ...lines].join("\n");
  writeFileSync(pathOf(file), `${text}\n`);
}
