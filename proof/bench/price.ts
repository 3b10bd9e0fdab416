import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Part, parts } from "./implementations.ts";
import type { Spending } from "./measure/spending.ts";

/** The project's one price file: US dollars for one of each; a month for what only lies or stands there. */
const priceFile = z.object({
  /** When the prices were looked up. */
  date: z.iso.date(),
  region: z.string(),
  currency: z.literal("USD"),
  note: z.string(),
  /** Pages, by service. */
  sources: z.record(z.string(), z.url()),
  /** For each 512 KB. */
  apiRequest: z.number(),
  lambdaRequest: z.number(),
  /** On arm64. */
  lambdaGigabyteSecond: z.number(),
  /** For each 64 KB, of a standard queue. */
  sqsRequest: z.number(),
  writeUnit: z.number(),
  readUnit: z.number(),
  tableGigabyteMonth: z.number(),
  backupGigabyteMonth: z.number(),
  objectPut: z.number(),
  objectGet: z.number(),
  secretRead: z.number(),
  secretMonth: z.number(),
  logGigabyte: z.number(),
  metricMonth: z.number(),
  alarmMonth: z.number(),
  dashboardMonth: z.number(),
  trace: z.number(),
  keyMonth: z.number(),
  keyRequest: z.number(),
  /** Out to the internet. */
  transferGigabyte: z.number(),
});
export type Prices = z.output<typeof priceFile>;

/** @throws where the file misses a price */
export function readPrices(file = join(import.meta.dirname, "prices.json")): Prices {
  return priceFile.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** US dollars for a million events, line by line. */
export type Bill = Readonly<
  Record<
    | "api"
    | "lambda requests"
    | "lambda time"
    | "sqs"
    | "table"
    | "secrets"
    /** What the functions' code writes. */
    | "logs"
    /** Of event sources that find their queues empty, for a month: as long as the million takes. */
    | "idle polling",
    number
  >
>;

export type BillOptions = {
  readonly events: number;
  readonly prices: Prices;
  /** What each function is given; time is billed by it. */
  readonly memoryMb: Readonly<Record<Part, number>>;
  readonly polledQueues: number;
};

const million = 1_000_000;
/** Source: Lambda developer guide, "Configuring scaling behavior for SQS event source mappings"; long polls of 20 s. */
export const idlePolling = { pollers: 5, pollSeconds: 20 } as const;
const pollsInMonth = (idlePolling.pollers * 30 * 86_400) / idlePolling.pollSeconds;

/** What a million events cost that are spent as these were. */
export function billOf(
  { spent, sqsRequests, writeUnits, readUnits, secretReads, logBytes }: Spending,
  { events, prices, memoryMb, polledQueues }: BillOptions,
): Bill {
  const perMillion = (count: number) => (count / events) * million;
  const invocations = parts.reduce((sum, part) => sum + spent[part].invocations, 0);
  const gigabyteSeconds = parts.reduce(
    (sum, part) => sum + (spent[part].millis / 1000) * (memoryMb[part] / 1024),
    0,
  );
  return {
    api: perMillion(spent.receive.invocations) * prices.apiRequest,
    "lambda requests": perMillion(invocations) * prices.lambdaRequest,
    "lambda time": perMillion(gigabyteSeconds) * prices.lambdaGigabyteSecond,
    sqs: perMillion(sqsRequests) * prices.sqsRequest,
    table: perMillion(writeUnits) * prices.writeUnit + perMillion(readUnits) * prices.readUnit,
    secrets: perMillion(secretReads) * prices.secretRead,
    logs: perMillion(logBytes / 2 ** 30) * prices.logGigabyte,
    "idle polling": polledQueues * pollsInMonth * prices.sqsRequest,
  };
}

export function totalOf(bill: Bill): number {
  return Object.values(bill).reduce((sum, line) => sum + line, 0);
}
