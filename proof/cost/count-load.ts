import { paginateScan } from "@aws-sdk/client-dynamodb";
import { drive } from "../bench/drive/drive.ts";
import type { RunningImplementation } from "../bench/drive/running-implementation.ts";
import type { BenchProvider } from "../bench/provider.ts";
import type { Webhook } from "../bench/workload.ts";
import type { Used } from "./counts.ts";
import { itemSize } from "./item-size.ts";
import { byParts, type Waits } from "./waits.ts";

const operator = "operator";

export type Arrival = "batches" | "alone";

/** What is counted beside the implementation itself. */
export type Beside = { readonly waits: Waits; readonly provider: Pick<BenchProvider, "calls" | "rounds"> };

/** Takes a load through an implementation and counts what it used. */
export async function countLoad(
  running: RunningImplementation,
  load: readonly Webhook[],
  arrival: Arrival,
  { waits, provider }: Beside,
): Promise<Used> {
  const count = async () => ({
    ...counted(running),
    ...(await storedBytes(running)),
    waits: waits(),
    providerCalls: provider.calls(),
    providerWaits: provider.rounds(),
  });
  const before = await count();
  const spent = await drive(running, load, { isAlone: arrival === "alone" });
  const after = await count();
  const sumOf = (figure: "invocations" | "cpuMicros") => byParts((part) => Math.round(spent[part][figure]));
  const more = (name: Exclude<keyof typeof after, "waits">) => after[name] - before[name];
  return {
    invocations: sumOf("invocations"),
    cpuMicros: sumOf("cpuMicros"),
    waits: byParts((part) => after.waits[part] - before.waits[part]),
    providerWaits: more("providerWaits"),
    sqsRequests: more("sqsRequests") + spent.store.queueRequests.all + spent.fetch.queueRequests.all,
    fifoRequests: more("fifoRequests") + spent.fetch.queueRequests.fifo,
    tableRequests: more("tableRequests"),
    writeUnits: more("writeUnits"),
    readUnits: more("readUnits"),
    objectPuts: more("objectPuts"),
    objectGets: more("objectGets"),
    providerCalls: more("providerCalls"),
    logBytes: more("logBytes"),
    expiringBytes: more("expiringBytes"),
    stayingBytes: more("stayingBytes"),
  };
}

function counted({ queueRequests, stack: { gateway, functions } }: RunningImplementation) {
  const calls = [...gateway.calls()].filter(([key]) => !key.startsWith(`${operator} `));
  const byFunctions = (pattern: RegExp) =>
    calls.reduce((sum, [key, count]) => sum + (pattern.test(key.split(" ")[1] ?? "") ? count : 0), 0);
  const units = [...gateway.capacity()]
    .filter(([key]) => !key.startsWith(`${operator} `))
    .map(([, capacity]) => capacity);
  return {
    sqsRequests: queueRequests().all,
    fifoRequests: queueRequests().fifo,
    tableRequests: byFunctions(/^dynamodb:/),
    objectPuts: byFunctions(/^s3:Put/),
    objectGets: byFunctions(/^s3:Get/),
    writeUnits: units.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
    readUnits: units.reduce((sum, { readUnits }) => sum + readUnits, 0),
    logBytes: functions.reduce((sum, each) => sum + each.logBytes(), 0),
  };
}

async function storedBytes({ stack, dynamodb: client }: RunningImplementation) {
  const bytes = { expiringBytes: 0, stayingBytes: 0 };
  for (const { name: TableName } of stack.tables) {
    for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
      for (const item of Items) {
        const expires = ["expiresAt", "expiration", "ttl"].some((name) => item[name] !== undefined);
        bytes[expires ? "expiringBytes" : "stayingBytes"] += itemSize(item);
      }
    }
  }
  return bytes;
}
