import { paginateScan } from "@aws-sdk/client-dynamodb";
import { drive, type SpentByPart } from "../bench/drive/drive.ts";
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
  const spent: SpentByPart[] = [];
  if (arrival === "batches") spent.push(await drive(running, load));
  else for (const webhook of load) spent.push(await drive(running, [webhook]));
  const after = await count();
  const sumOf = (figure: "invocations" | "cpuMicros") =>
    byParts((part) => Math.round(spent.reduce((sum, each) => sum + each[part][figure], 0)));
  const more = (name: Exclude<keyof typeof after, "waits">) => after[name] - before[name];
  const invocations = sumOf("invocations");
  return {
    invocations,
    cpuMicros: sumOf("cpuMicros"),
    waits: byParts((part) => after.waits[part] - before.waits[part]),
    providerWaits: more("providerWaits"),
    sqsRequests: more("sqsSent") + more("sqsDeletes") + invocations.store + invocations.fetch,
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

function counted({ stack: { gateway, functions } }: RunningImplementation) {
  const calls = [...gateway.calls()].map(([key, count]) => {
    const [principal = "", action = ""] = key.split(" ");
    return { isFunctions: principal !== operator, action, count };
  });
  const sumOf = (matches: (call: (typeof calls)[number]) => boolean) =>
    calls.filter(matches).reduce((sum, { count }) => sum + count, 0);
  const byFunctions = (pattern: RegExp) =>
    sumOf(({ isFunctions, action }) => isFunctions && pattern.test(action));
  const units = [...gateway.capacity()]
    .filter(([key]) => !key.startsWith(`${operator} `))
    .map(([, capacity]) => capacity);
  return {
    sqsSent: byFunctions(/^sqs:/),
    // Whoever drives deletes in the place of the event source.
    sqsDeletes: sumOf(({ isFunctions, action }) => !isFunctions && action.startsWith("sqs:DeleteMessage")),
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
