import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as keys from "../../../adapters/dynamodb/keys.ts";
import { scanCost } from "../../../domain/recovery/scan-cost.ts";
import { pageFile, withCalculations } from "../../../proof/bench/page.ts";
import { floodOf } from "../../../proof/bench/price/bill.ts";
import { idleOf, queueSourcesIn, sumOf } from "../../../proof/bench/price/idle.ts";
import { prices } from "../../../proof/bench/price/prices.ts";
import {
  dashboardStage,
  documentedSettings,
  productionStage,
  type Resource,
} from "../../../scripts/documents/stage-template.ts";

const page = readFileSync(pageFile, "utf8");

it("the page's tables are what counts, prices and the template say; else: npm run bench -- --calculate", () => {
  expect(withCalculations(page)).toBe(page);
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

it.each(Object.keys(keys).filter((name) => name.endsWith("Key")))(
  "the page says how hot %s can be",
  (name) => {
    expect(page).toContain(`| \`${name}\` |`);
  },
);

it("prices a scan of the table as the bill does", () => {
  const { readUnits, dollars } = scanCost({ items: 1, bytes: 8_192_000_000 });
  expect(dollars).toBeCloseTo(readUnits * prices.readUnit);
});
