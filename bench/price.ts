import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Spending } from "./measure/spending.ts";
import { parts } from "./sides.ts";

const priceFile = z.object({
  /** When the prices were looked up. */
  date: z.iso.date(),
  region: z.string(),
  currency: z.literal("USD"),
  source: z.string(),
  apiRequest: z.number(),
  lambdaRequest: z.number(),
  lambdaGigabyteSecond: z.number(),
  sqsRequest: z.number(),
  writeUnit: z.number(),
  readUnit: z.number(),
  secretRead: z.number(),
  logGigabyte: z.number(),
});
export type Prices = z.output<typeof priceFile>;

/** @throws where the file misses a price */
export function readPrices(file = join(import.meta.dirname, "prices.json")): Prices {
  return priceFile.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** US dollars for a million events, line by line. */
export type Bill = Readonly<
  Record<"api" | "lambda requests" | "lambda time" | "sqs" | "table" | "secrets", number>
>;

const million = 1_000_000;

/**
 * What a million events cost that are spent as these were.
 * @param memoryMb what each function is given; time is billed by it
 */
export function billOf(
  { spent, sqsRequests, writeUnits, readUnits, secretReads }: Spending,
  events: number,
  prices: Prices,
  memoryMb: Readonly<Record<(typeof parts)[number], number>>,
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
  };
}

export function totalOf(bill: Bill): number {
  return Object.values(bill).reduce((sum, line) => sum + line, 0);
}
