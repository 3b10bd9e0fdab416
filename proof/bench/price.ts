import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

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
  /** The same of a FIFO queue. */
  sqsFifoRequest: z.number(),
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
  compositeAlarmMonth: z.number(),
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

/** Source: Lambda developer guide, "Configuring scaling behavior for SQS event source mappings"; long polls of 20 s. */
export const idlePolling = { pollers: 5, pollSeconds: 20 } as const;
