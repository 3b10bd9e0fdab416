import { type Implementation, parts } from "../../../proof/bench/implementations.ts";
import type { Prices } from "../../../proof/bench/price.ts";
import { assumptions } from "../../../proof/cost/assumptions.ts";
import type { CountedLoad, Counts, Used } from "../../../proof/cost/counts.ts";

/** US dollars, line by line. */
export type Bill = ReadonlyMap<string, number>;

const million = 1_000_000;
const bytesPerGigabyte = 2 ** 30;

/** What is the same for all implementations, of the template. */
export type Fixed = { readonly accessLogBytes: number };

/** Ours turns Lambda's own lines off (`logs.invocations`), as the floor may; the others leave them as they are by default. */
const platformLogBytes: Readonly<Record<Implementation, number>> = {
  ours: 0,
  floor: 0,
  plain: assumptions.platformLogBytes,
  powertools: assumptions.platformLogBytes,
};

/** What a million distinct events cost that come as these did. */
export function billOf(
  load: CountedLoad,
  implementation: Implementation,
  prices: Prices,
  { memoryMb, accessLogBytes }: Fixed & Pick<Counts, "memoryMb">,
): Bill {
  const used = load.sides[implementation];
  const invocations = parts.reduce((sum, part) => sum + used.invocations[part], 0);
  const logBytes =
    used.logBytes + invocations * platformLogBytes[implementation] + load.deliveries * accessLogBytes;
  const lines: readonly (readonly [string, number, number])[] = [
    ["API Gateway, requests", load.deliveries, prices.apiRequest],
    ["Lambda, requests", invocations, prices.lambdaRequest],
    ["Lambda, time", gigabyteSeconds(used, memoryMb), prices.lambdaGigabyteSecond],
    [
      "SQS, requests",
      1,
      (used.sqsRequests - used.fifoRequests) * prices.sqsRequest + used.fifoRequests * prices.sqsFifoRequest,
    ],
    ["DynamoDB, writes", used.writeUnits, prices.writeUnit],
    ["DynamoDB, reads", used.readUnits, prices.readUnit],
    ["S3, requests", 1, used.objectPuts * prices.objectPut + used.objectGets * prices.objectGet],
    ["CloudWatch, logs taken in", logBytes / bytesPerGigabyte, prices.logGigabyte],
  ];
  return new Map(lines.map(([name, count, price]) => [name, ((count * price) / load.events) * million]));
}

export function totalOf(bill: Bill): number {
  return [...bill.values()].reduce((sum, line) => sum + line, 0);
}

/**
 * How long a function is billed for: its processor time, stretched where its memory brings less than a processor, and
 * what it waits for, one call after the other.
 */
export function billedSeconds(
  cpuMicros: number,
  waits: number,
  providerWaits: number,
  memoryMb: number,
): number {
  const { wholeProcessorMb, awsMillis, providerMillis } = assumptions;
  const share = Math.min(1, memoryMb / wholeProcessorMb);
  return cpuMicros / million / share + (waits * awsMillis + providerWaits * providerMillis) / 1_000;
}

function gigabyteSeconds(used: Used, memoryMb: Counts["memoryMb"]): number {
  return parts.reduce((sum, part) => {
    const providerWaits = part === "fetch" ? used.providerWaits : 0;
    const seconds = billedSeconds(used.cpuMicros[part], used.waits[part], providerWaits, memoryMb[part]);
    return sum + (seconds * memoryMb[part]) / 1_024;
  }, 0);
}

/** US dollars a month for keeping what a million events leave, with its backups; logs by their retention. */
export function storageOf(load: CountedLoad, implementation: Implementation, prices: Prices) {
  const { expiringBytes, stayingBytes } = load.sides[implementation];
  const monthly = (bytes: number) =>
    ((bytes / load.events) * million * (prices.tableGigabyteMonth + prices.backupGigabyteMonth)) /
    bytesPerGigabyte;
  return { expiring: monthly(expiringBytes), staying: monthly(stayingBytes) };
}
