import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as keys from "../../adapters/dynamodb/keys.ts";
import { demands } from "../../proof/capacity/demands.ts";
import { keyAnalyses } from "../../proof/capacity/keys.ts";
import { limitsOf } from "../../proof/capacity/limits.ts";
import { measuredOutage, simulatedOutage } from "../../proof/capacity/measured-outage.ts";
import { readQuotas } from "../../proof/capacity/quotas.ts";
import { type Stage, simulateBurst, simulateOutage } from "../../proof/capacity/simulations.ts";
import { documentedSettings } from "../../scripts/documents/stage-settings.ts";

const settings = documentedSettings();
const page = readFileSync(join(import.meta.dirname, "../../docs/evidence/capacity.md"), "utf8");
const stage: Stage = { settings, perEvent: demands(), concurrency: 1_000 };
const faster: Stage = {
  ...stage,
  settings: { ...settings, provider: { ...settings.provider, requestsPerMinute: 6_000 } },
};

describe("the analysis of keys", () => {
  const builders = Object.keys(keys).filter((name) => name.endsWith("Key"));

  it("has an entry for each key that the table can have, and no other", () => {
    expect(Object.keys(keyAnalyses).toSorted()).toEqual(builders.toSorted());
    for (const name of builders) expect(page).toContain(`| \`${name}\` |`);
  });

  it("knows which keys share the provider's partition", () => {
    const shared = builders.filter((name) => {
      const key: unknown = Reflect.get(keys, name);
      const item: unknown = typeof key === "function" ? undefined : key;
      return typeof item === "object" && item !== null && Reflect.get(item, "pk") === "PROVIDER";
    });
    const reported = Object.entries(keyAnalyses).filter(([, { partition }]) => partition === "the provider");
    expect(reported.map(([name]) => name).toSorted()).toEqual([...shared, "callWindowKey"].toSorted());
    expect(keys.callWindowKey(0).pk).toBe("PROVIDER");
  });
});

describe("the limits", () => {
  const of = (name: string, other = settings, perEvent = demands()) =>
    limitsOf(other, perEvent).find((limit) => limit.name.includes(name))?.eventsPerSecond ?? Number.NaN;

  it("stand in the order in which they end", () => {
    const rates = limitsOf(settings, demands()).map(({ eventsPerSecond }) => eventsPerSecond);
    expect(rates).toEqual(rates.toSorted((one, other) => one - other));
    for (const { name, eventsPerSecond } of limitsOf(settings, demands()))
      expect(page.includes(`| ${name} |`), name).toBe(Number.isFinite(eventsPerSecond));
  });

  it("rise with the settings that the page says to raise", () => {
    const { provider, webhooks, fetch } = settings;
    const raised = {
      ...settings,
      provider: { ...provider, requestsPerMinute: 2 * provider.requestsPerMinute },
      webhooks: { ...webhooks, throttle: { ...webhooks.throttle, requestsPerSecond: 1_000 } },
      fetch: { ...fetch, maxConcurrency: 2 * fetch.maxConcurrency },
    };
    expect(of("requestsPerMinute", raised)).toBeCloseTo(2 * of("requestsPerMinute"), 0);
    expect(of("throttle", raised)).toBeCloseTo(2 * of("throttle"));
    expect(of("maxConcurrency", raised)).toBeCloseTo(2 * of("maxConcurrency"));
  });

  it("end sooner where an event costs more", () => {
    const perEvent = demands();
    const dearer = { ...perEvent, writeUnits: 2 * perEvent.writeUnits, deliveries: 2 * perEvent.deliveries };
    expect(of("write units a second of a new table", settings, dearer)).toBeCloseTo(
      of("write units a second of a new table") / 2,
    );
    expect(of("API Gateway: requests", settings, dearer)).toBeCloseTo(of("API Gateway: requests") / 2);
  });

  it("are of quotas with a source and a date, each of which the page shows", () => {
    const { date, quotas } = readQuotas();
    expect(page).toContain(date);
    for (const { name, source } of Object.values(quotas)) {
      expect(page).toContain(`| ${name} |`);
      expect(page).toContain(source);
    }
  });
});

describe("the simulations", () => {
  it("say that a burst over the throttle is refused, sent again and stored", () => {
    const { summary } = simulateBurst(faster, { rate: 5, factor: 200, minutes: 1 });
    expect(summary.mostRefused).toBeGreaterThan(0);
    expect(summary.storedAfter).toBeDefined();
    const { summary: small } = simulateBurst(faster, { rate: 5, factor: 10, minutes: 1 });
    expect(small.mostRefused).toBe(0);
  });

  it("catch up no sooner than the rate allows, and not much later", () => {
    const { summary, disturbance, limitPerMinute } = simulateOutage(faster, { rate: 5, hours: 0.5 });
    const comesPerMinute = 5 * 60 * stage.perEvent.tasks;
    const least = (60 * summary.mostTasksWaiting) / (limitPerMinute - comesPerMinute);
    const took = (summary.fetchedAfter ?? Number.POSITIVE_INFINITY) - disturbance.to;
    expect(took).toBeGreaterThanOrEqual(least);
    // Who waited for the breaker comes back within three of its longest waits, who waited for the rate in a minute.
    expect(took).toBeLessThan(least + 3 * settings.provider.breaker.maxSeconds + 60);
  });

  it("never catch up where more comes than the provider's rate", () => {
    const { summary } = simulateOutage(stage, { rate: 40, hours: 0.05 });
    expect(summary.fetchedAfter).toBeUndefined();
  });

  it("are within a quarter of the outage that was measured", () => {
    const measured = measuredOutage();
    const simulated = simulatedOutage(measured);
    for (const figure of ["tasks", "callsDuringOutage", "maxCallsPerMinute", "catchUpSeconds"] as const) {
      expect(Math.abs(simulated[figure] / measured[figure] - 1), figure).toBeLessThanOrEqual(0.25);
    }
  });
});
