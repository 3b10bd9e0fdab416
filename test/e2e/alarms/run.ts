import { setTimeout as wait } from "node:timers/promises";
import type { AlarmPlan } from "@income-events/local-stack/assembly/plan.ts";
import type { ScriptedStack } from "../../support/scripted-stack.ts";
import type { AlarmScenario } from "./scenario.ts";

export type Outcome = {
  readonly scenario: AlarmScenario;
  readonly alarm: AlarmPlan;
  readonly state: "raised" | "was on before" | "not raised";
  /** Values of the alarm's periods, latest first. */
  readonly values: readonly (number | undefined)[];
};

/** An alarm in three of several periods needs three minutes. */
const patienceInMs = 240_000;
/** Longest period of a slowness alarm, plus a minute. */
const longestSlownessInMs = 360_000;
const lookedAtEveryMs = 500;
/** Interval at which long conditions are renewed. */
const longLookedAtEveryMs = 5_000;

/** Entries of the stack's alarms that no scenario raises. */
export function alarmsWithoutScenario(
  alarms: readonly AlarmPlan[],
  scenarios: readonly AlarmScenario[],
): readonly string[] {
  return alarms.map(entryOf).filter((entry) => !scenarios.some((scenario) => scenario.entry === entry));
}

export function entryOf({ description }: AlarmPlan): string {
  return /docs\/operate\/runbook\.md#([a-z-]+)/.exec(description)?.[1] ?? "";
}

/**
 * Creates each condition in turn and waits for its alarm.
 * @throws for a scenario without an alarm
 */
export async function runScenarios(
  system: ScriptedStack,
  scenarios: readonly AlarmScenario[],
): Promise<readonly Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  for (const scenario of scenarios) {
    if (scenario.isAfterOthers === true) await Promise.all(outcomes);
    const outcome = runScenario(system, scenario);
    outcomes.push(outcome);
    if (scenario.isAwaitedLater !== true) await outcome;
    // Long scenarios must have begun before the next one does.
    else await Promise.race([outcome, wait(2 * lookedAtEveryMs)]);
  }
  return Promise.all(outcomes);
}

async function runScenario(system: ScriptedStack, scenario: AlarmScenario): Promise<Outcome> {
  const { stack } = system;
  const alarm = stack.alarmPlans.find((each) => entryOf(each) === scenario.entry);
  if (alarm === undefined) throw new Error(`There is no alarm of the entry ${scenario.entry}`);
  const isOn = async () =>
    (await stack.refreshAlarms()).some(
      (each) => each.logicalId === alarm.logicalId && each.state === "ALARM",
    );
  const values = () => stack.alarmValues(alarm.logicalId);
  await scenario.prepare?.(system);
  const latest = Date.now() + longestSlownessInMs;
  while (scenario.isOfSlowness === true && Date.now() < latest && (await isOn()))
    await wait(longLookedAtEveryMs);
  if (await isOn()) return { scenario, alarm, state: "was on before", values: values() };
  const began = Date.now();
  await using ends = new AsyncDisposableStack();
  if (scenario.meets) ends.defer(system.meets(...scenario.meets));
  if (scenario.answers) ends.defer(system.answers(...scenario.answers));
  await scenario.make?.(system, ends);
  while (Date.now() - began < patienceInMs) {
    await scenario.goOn?.(system);
    if (await isOn()) return { scenario, alarm, state: "raised", values: values() };
    await wait(scenario.isLong === true ? longLookedAtEveryMs : lookedAtEveryMs);
  }
  return { scenario, alarm, state: "not raised", values: values() };
}
