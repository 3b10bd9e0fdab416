/**
 * Raises each alarm on the local stack and shows the values that raised it: `npm run proof -- alarms`. Exits
 * 1 if an alarm is not raised, is on before its turn, or has no scenario.
 */
import type { AlarmPlan } from "@income-events/local-stack/assembly/plan.ts";
import { Command, Option } from "commander";
import { startScriptedStack } from "../support/scripted-stack.ts";
import { alarmsWithoutScenario, type Outcome, runScenarios } from "./run.ts";
import { alarmSettings } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

const examples = `
The stage divides its durations, so that conditions of hours last seconds (proof/alarms/scenario.ts).
Takes about two minutes.

Examples:
  npm run proof -- alarms
  npm run proof -- alarms --only provider-down events-late`;

const { only } = new Command("npm run proof -- alarms")
  .description("Creates each alarm's condition on the local stack and shows the metric values that raise it.")
  .addOption(
    new Option("--only <entries...>", "entries of the runbook").choices(scenarios.map(({ entry }) => entry)),
  )
  .addHelpText("after", examples)
  .parse()
  .opts<{ readonly only?: readonly string[] }>();

const progress = (step: string) => void process.stderr.write(`${step}\n`);
const wanted = scenarios.filter(({ entry }) => only?.includes(entry) ?? true);
await using system = await startScriptedStack(alarmSettings, { onProgress: progress });
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await system[Symbol.asyncDispose]();
    process.exit(130);
  });
}
const { alarmPlans } = system.stack;
const without = alarmsWithoutScenario(alarmPlans, scenarios);
for (const entry of without) process.stdout.write(`NO SCENARIO ${entry}\n`);
const outcomes = await runScenarios(system, wanted, (outcome) =>
  process.stdout.write(`${outcomeText(outcome)}\n`),
);
const raised = outcomes.filter(({ state }) => state === "raised").length;
process.stdout.write(
  `alarms: ${alarmPlans.length} raised ${raised}/${wanted.length} untripped ${without.length}\n`,
);
process.exitCode = raised === wanted.length && without.length === 0 ? 0 : 1;

/** Describes how an alarm was raised, in three lines. */
function outcomeText({ scenario, alarm, state, values, seconds }: Outcome): string {
  const mark = state === "raised" ? "ALARM" : state.toUpperCase();
  return [
    `${mark.padEnd(13)} ${scenario.entry}, after ${seconds.toFixed(1)} s: ${scenario.condition}`,
    `              ${metricText(alarm)} = ${values.map((value) => value ?? "nothing").join(", ")}; ${limitText(alarm)}`,
    `              "${alarm.description.split(" See docs/")[0]}"`,
  ].join("\n");
}

function metricText({ metrics, taken, periodSeconds }: AlarmPlan): string {
  const names = [...new Set(metrics.map(({ namespace, name }) => `${namespace} ${name}`))].join(" + ");
  const how = taken === "as greatest" ? "greatest" : (metrics[0]?.statistic ?? "Sum").toLowerCase();
  const of = metrics.length === 1 ? "" : ` of ${metrics.length} metrics`;
  return `${names}${of}, ${how} of ${periodSeconds} s`;
}

function limitText({ breaches, threshold, datapointsToAlarm, evaluationPeriods }: AlarmPlan): string {
  const times = evaluationPeriods === 1 ? "" : ` in ${datapointsToAlarm} of ${evaluationPeriods} periods`;
  return `limit ${breaches === "above" ? "≥" : "≤"} ${threshold}${times}`;
}
