import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fastEngine } from "../support/engines.ts";
import { synthesizeProduct } from "../support/running-product.ts";
import { type ScriptedStack, startScriptedStack } from "../support/scripted-stack.ts";
import { shareOfTier } from "../support/share-of-tier.ts";
import { alarmsWithoutScenario, entryOf, type Outcome, runScenarios } from "./alarms/run.ts";
import { alarmSettings } from "./alarms/scenario.ts";
import { scenarios } from "./alarms/scenarios.ts";

/** One scenario of each kind: a dead letter, webhooks, a function that fails, the token. */
const quick = ["fetching-dead-letters", "webhooks-refused", "events-dead-letters", "token-missing"];
const played = shareOfTier(
  scenarios.filter(({ entry }) => quick.includes(entry)),
  scenarios,
);

describe("each alarm of the synthesized stack, on this machine", () => {
  let system: ScriptedStack;
  let outcomes: readonly Outcome[];

  beforeAll(async () => {
    system = await startScriptedStack(alarmSettings, {
      synthesize: synthesizeProduct,
      engine: await fastEngine(),
    });
    outcomes = await runScenarios(system, played);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it("has a scenario, and each scenario an alarm", () => {
    expect(alarmsWithoutScenario(system.stack.alarmPlans, scenarios)).toEqual([]);
    // The two subscribers share their entries.
    const entries = new Set(system.stack.alarmPlans.map(entryOf));
    expect([...entries].toSorted()).toEqual(scenarios.map(({ entry }) => entry).toSorted());
  });

  it.each(played.map(({ entry }) => entry))("fires under its condition, and not before: %s", (entry) => {
    const outcome = outcomes.find(({ scenario }) => scenario.entry === entry);
    expect(outcome?.state, outcome?.scenario.condition).toBe("raised");
    expect(outcome?.alarm.actions).toHaveLength(1);
    const [latest] = outcome?.values ?? [];
    expect(latest).toBeGreaterThanOrEqual(outcome?.alarm.threshold ?? Number.NaN);
  });
});
