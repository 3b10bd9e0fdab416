import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parts } from "../implementations.ts";

const perPart = ["Invocations", "CpuMicros", "Waits"] as const;
const ofParts = parts.flatMap((part) => perPart.map((figure) => `${part}${figure}` as const));

/**
 * Total resources of one implementation for one load. `…Waits` is the number of waits for AWS or the
 * provider; overlapping calls count as one wait. Requests to SQS are counted as billed.
 */
export const counts = z.record(
  z.enum([
    ...(["events", "deliveries", "dataBytes"] as const),
    ...ofParts,
    ...(["providerWaits", "providerCalls", "sqsRequests", "fifoRequests", "tableRequests"] as const),
    ...(["writeUnits", "readUnits", "objectPuts", "objectGets", "logBytes"] as const),
  ]),
  z.coerce.number(),
);
export type Counts = Readonly<z.output<typeof counts>>;

/** With the waits before each event's own message, which are not recorded. */
export type Counted = Counts & { readonly subscriberWaits: number };

const file = join(import.meta.dirname, "counts.csv");

/** Recorded counts by load and implementation, such as `usual/ours`, with the date and the machine. */
export function readCounts(): { readonly origin: string; readonly rows: ReadonlyMap<string, Counts> } {
  const [origin = "", head = "", ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  const columns = head.split(",").slice(1);
  const rows = lines.map((line) => {
    const [name = "", ...cells] = line.split(",");
    const entries = columns.map((column, index) => [column, cells[index]] as const);
    return [name, counts.parse(Object.fromEntries(entries))] as const;
  });
  return { origin: origin.slice("# ".length), rows: new Map(rows) };
}

export function writeCounts(origin: string, rows: ReadonlyMap<string, Counts>): void {
  const columns = counts.keyType.options;
  const lines = [...rows].map(([name, figures]) =>
    [name, ...columns.map((column) => figures[column])].join(","),
  );
  const text = [`# ${origin}`, ["name", ...columns].join(","), ...lines].join("\n");
  writeFileSync(file, `${text}\n`);
}
