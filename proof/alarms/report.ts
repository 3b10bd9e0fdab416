import type { AlarmPlan } from "@income-events/local-stack/assembly/plan.ts";
import type { Outcome } from "./run.ts";

/** What raised an alarm, in three lines. */
export function outcomeText({ scenario, alarm, state, values, seconds }: Outcome): string {
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
