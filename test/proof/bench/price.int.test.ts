import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as keys from "../../../adapters/dynamodb/keys.ts";
import { scanCost } from "../../../domain/recovery/scan-cost.ts";
import { limitsOf } from "../../../proof/bench/capacity.ts";
import { pageFile, withCalculations } from "../../../proof/bench/page.ts";
import { billedSeconds, billOf, totalOf } from "../../../proof/bench/price/bill.ts";
import { type Counts, readCounts } from "../../../proof/bench/price/counts.ts";
import { floodOf } from "../../../proof/bench/price/flood.ts";
import { idleOf, queueSourcesIn, sumOf } from "../../../proof/bench/price/idle.ts";
import { prices } from "../../../proof/bench/price/prices.ts";
import {
  dashboardStage,
  documentedSettings,
  productionStage,
  type Resource,
} from "../../../scripts/documents/stage-template.ts";

const page = readFileSync(pageFile, "utf8");
const countsOf = (load: string): Counts => {
  const found = readCounts().rows.get(`${load}/ours`);
  if (found === undefined) throw new Error(`${load} was never counted`);
  return found;
};
const usual = countsOf("usual");

it("the page's tables are what counts, prices and the template say; else: npm run bench -- --calculate", () => {
  expect(withCalculations(page)).toBe(page);
});

describe("the bill of a million events", () => {
  it("is counts times prices, whatever number of events was counted", () => {
    const bill = billOf(usual, "ours", 100);
    const { deliveries, writeUnits, events } = usual;
    expect(bill.get("API Gateway, requests")).toBeCloseTo((deliveries / events) * prices.apiRequest * 1e6);
    expect(bill.get("DynamoDB, writes")).toBeCloseTo((writeUnits / events) * prices.writeUnit * 1e6);
    expect(totalOf(bill)).toBeCloseTo(sumOf([...bill.values()]));
  });

  it("bills time by the share of a processor that the memory brings, and waits by the clock", () => {
    expect(billedSeconds(1_000_000, 0, 0, 1_769)).toBeCloseTo(1);
    expect(billedSeconds(1_000_000, 0, 0, 3_538)).toBeCloseTo(1);
    expect(billedSeconds(1_000_000, 0, 0, 1_769 / 2)).toBeCloseTo(2);
    expect(billedSeconds(0, 2, 1, 512)).toBeCloseTo(0.21);
  });
});

it("bounds what a day of refused webhooks costs by the throttle's default", () => {
  const { requestsPerSecond, burst } = documentedSettings().webhooks.throttle;
  expect([requestsPerSecond, burst]).toEqual([50, 100]);
  // Four routes, a day, US$ 1 per million; at 500 per second it was 173.
  expect(floodOf(requestsPerSecond, 0).apiDollars).toBeCloseTo(17.28);
  expect(floodOf(500, 0).apiDollars).toBeCloseTo(172.8);
});

describe("the bill of a month without events", () => {
  const resources = productionStage();
  const total = (among: readonly Resource[]) => sumOf(idleOf(among).map(({ dollars }) => dollars));

  it("is at most US$ 9.00, and 12.00 with the dashboard", () => {
    expect(total(resources)).toBeLessThanOrEqual(9);
    expect(total(dashboardStage())).toBeLessThanOrEqual(12);
  });

  it("follows from the template: each resource that is taken away makes it cheaper", () => {
    const types = ["SecretsManager::Secret", "CloudWatch::Alarm", "CloudWatch::CompositeAlarm"];
    const priced = resources.filter(({ type }) => types.includes(type.replace("AWS::", "")));
    expect(priced.length).toBeGreaterThan(10);
    expect(total(dashboardStage())).toBeGreaterThan(total(resources));
    for (const each of [...priced, ...queueSourcesIn(resources)])
      expect(total(resources.filter((other) => other !== each)), each.id).toBeLessThan(total(resources));
  });
});

describe("capacity", () => {
  const settings = documentedSettings();
  const rateOf = (name: string, of = settings, counts = usual) =>
    limitsOf(of, counts, 0.7).find((limit) => limit.name.includes(name))?.eventsPerSecond ?? Number.NaN;

  it("lists limits from the lowest, which rise with the settings and fall with what an event uses", () => {
    const rates = limitsOf(settings, usual, 0.7).map(({ eventsPerSecond }) => eventsPerSecond);
    expect(rates).toEqual(rates.toSorted((one, other) => one - other));
    const fetch = { ...settings.fetch, maxConcurrency: 2 * settings.fetch.maxConcurrency };
    expect(rateOf("maxConcurrency", { ...settings, fetch })).toBeCloseTo(2 * rateOf("maxConcurrency"));
    const dearer = { ...usual, writeUnits: 2 * usual.writeUnits };
    expect(rateOf("new table", settings, dearer)).toBeCloseTo(rateOf("new table") / 2);
  });

  it.each(Object.keys(keys).filter((name) => name.endsWith("Key")))("says how hot %s can be", (name) => {
    expect(page).toContain(`| \`${name}\` |`);
  });
});

it("prices a scan of the table as the bill does", () => {
  const { readUnits, dollars } = scanCost({ items: 1, bytes: 8_192_000_000 });
  expect(dollars).toBeCloseTo(readUnits * prices.readUnit);
});
