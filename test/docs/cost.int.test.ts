import { describe, expect, it } from "vitest";
import { scanCost } from "../../domain/recovery/scan-cost.ts";
import { readPrices } from "../../proof/bench/price.ts";
import { readCounts } from "../../proof/cost/counts.ts";
import { billedSeconds, billOf, storageOf, totalOf } from "../../scripts/documents/cost/bill.ts";
import { idleOf, queueSourcesIn, typicalOf } from "../../scripts/documents/cost/idle.ts";
import { productionStage, type Resource } from "../../scripts/documents/stage-template.ts";

const prices = readPrices();
const counts = readCounts();
const { resources } = productionStage();
const bill = (load = counts.loads.usual) =>
  billOf(load, "ours", prices, { memoryMb: counts.memoryMb, accessLogBytes: 100 });

describe("the bill of a million events", () => {
  it("is counts times prices, whatever number of events was counted", () => {
    const { usual } = counts.loads;
    const { deliveries, events, sides } = usual;
    expect(bill().get("API Gateway, requests")).toBeCloseTo((deliveries / events) * prices.apiRequest * 1e6);
    expect(bill().get("DynamoDB, writes")).toBeCloseTo(
      (sides.ours.writeUnits / events) * prices.writeUnit * 1e6,
    );
    expect(totalOf(bill())).toBeCloseTo([...bill().values()].reduce((sum, line) => sum + line));
  });

  it("bills time by the share of a processor that the memory brings, and waits by the clock", () => {
    expect(billedSeconds(1_000_000, 0, 0, 1_769)).toBeCloseTo(1);
    expect(billedSeconds(1_000_000, 0, 0, 3_538)).toBeCloseTo(1);
    expect(billedSeconds(1_000_000, 0, 0, 1_769 / 2)).toBeCloseTo(2);
    expect(billedSeconds(0, 2, 1, 512)).toBeCloseTo(0.21);
  });

  it("grows with duplicates, with large data and with batches of one", () => {
    const { unrepeated, usual, repeated, large, alone } = counts.loads;
    const totals = [unrepeated, usual, repeated].map((load) => totalOf(bill(load)));
    expect(totals).toEqual(totals.toSorted((one, other) => one - other));
    for (const load of [large, alone]) expect(totalOf(bill(load))).toBeGreaterThan(totalOf(bill(usual)));
    expect(storageOf(large, "ours", prices).staying).toBeGreaterThan(
      storageOf(usual, "ours", prices).staying,
    );
  });
});

describe("the bill of a month without events", () => {
  const lineOf = (name: RegExp, among: readonly Resource[] = resources) =>
    idleOf(among, counts.ticks, prices).find((line) => name.test(line.name)) ?? { count: 0, dollars: 0 };
  const without = (resource: Resource) => resources.filter((each) => each !== resource);

  it("counts what the template has: each resource that is taken away makes it cheaper", () => {
    const total = (among: readonly Resource[]) =>
      idleOf(among, counts.ticks, prices).reduce((sum, line) => sum + line.dollars, 0);
    const priced = resources.filter(({ type }) =>
      [
        "AWS::SecretsManager::Secret",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::CompositeAlarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::Events::Rule",
      ].includes(type),
    );
    expect(priced.length).toBeGreaterThan(10);
    for (const each of [...priced, ...queueSourcesIn(resources)]) {
      expect(total(without(each)), each.id).toBeLessThan(total(resources));
    }
  });

  it("knows every schedule of the template by a counted run", () => {
    const [rule] = resources.filter(({ type }) => type === "AWS::Events::Rule");
    expect(lineOf(/^Schedules/).count).toBeGreaterThan(lineOf(/^Schedules/, rule ? without(rule) : []).count);
    expect(() => idleOf(resources, [], prices)).toThrow("was never counted; run npm run proof -- cost");
  });

  it("polls each queue with an event source without end", () => {
    const month = 30 * 86_400;
    expect(lineOf(/^SQS/).count).toBe(queueSourcesIn(resources).length * 5 * (month / 20));
  });

  it("takes the typical design to watch nothing, to check no starts and to erase nothing", () => {
    const typical = typicalOf(resources);
    expect(typical.length).toBeLessThan(resources.length);
    expect(typical.filter(({ id, type }) => type.includes("CloudWatch") || /^Eras/.test(id))).toEqual([]);
    expect(queueSourcesIn(typical)).toHaveLength(queueSourcesIn(resources).length - 2);
  });
});

it("prices a scan as the price file does", () => {
  const { readUnits, dollars } = scanCost({ items: 1, bytes: 8_192_000_000 });
  expect(dollars).toBeCloseTo(readUnits * prices.readUnit);
});
