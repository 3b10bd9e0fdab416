import { sumsOfLastDay } from "../../../adapters/aws/metric-points.ts";
import { type StackAlarm, stackAlarms } from "../../../adapters/aws/stack-alarms.ts";
import { fieldsOf, parseJson, present, textOf, textsOf } from "../../../domain/core/parse.ts";
import type { Place } from "../core/command.ts";
import { spanText } from "../core/text.ts";
import { registrationStatus } from "../provider/registration.ts";
import { tokenStatus } from "./token-status.ts";
import { queueStatuses, workQueues } from "./work-queues.ts";

export type StageStatus = Awaited<ReturnType<typeof stageStatus>>;

/** The status of a stage. Queues are in the order in which data flows. */
export async function stageStatus(place: Place, now: () => Date) {
  const { deployment, clients } = place;
  const [queues, token, registrations, alarms, ignored, wrong] = await Promise.all([
    queueStatuses(workQueues(deployment), clients, now),
    tokenStatus(place),
    registrationStatus(place),
    pipelineAlarms(place),
    ignoredEvents(place, now),
    wrongPaths(place, now),
  ]);
  const { stage, client } = deployment;
  return {
    ...{ stage, region: client.region, at: now().toISOString(), queues, token, registrations },
    ...present({ ignored }),
    wrongPaths: wrong,
    alarms,
  };
}

/** Events of the last 24 hours that the settings ignore, by name. */
export type IgnoredEvents = readonly { readonly name: string; readonly count: number }[];

/** @returns undefined if the settings ignore no events */
export async function ignoredEvents(
  { deployment, clients }: Place,
  now: () => Date,
): Promise<IgnoredEvents | undefined> {
  const output = deployment.optionalOutput("IgnoredEvents");
  if (output === undefined) return undefined;
  const fields = fieldsOf(parseJson(output, "the output IgnoredEvents"), "IgnoredEvents");
  const names = textsOf(fields, "names");
  const Namespace = textOf(fields, "namespace");
  const metrics = names.map((Value) => {
    return { Namespace, MetricName: "EventsIgnored", Dimensions: [{ Name: "EventName", Value }] };
  });
  const counts = await sumsOfLastDay(clients.cloudWatch, metrics, now());
  return names.map((name, index) => ({ name, count: counts[index] ?? 0 }));
}

export function ignoredText(events: IgnoredEvents): string {
  const counted = events.filter(({ count }) => count > 0).toSorted((one, other) => other.count - one.count);
  if (counted.length === 0) return "none in 24h";
  return `${counted.map(({ name, count }) => `${name} ${count}`).join(", ")} in 24h`;
}

/** Requests of the last 24 hours to paths of no webhook kind. */
export async function wrongPaths({ deployment, clients }: Place, now: () => Date): Promise<number> {
  const metric = { Namespace: deployment.output("MetricsNamespace"), MetricName: "WebhookWrongPath" };
  const [count = 0] = await sumsOfLastDay(clients.cloudWatch, [metric], now());
  return count;
}

/** Descriptions of alarms, as in the runbook. */
export function alarmName({ entry }: Pick<StackAlarm, "entry">): string {
  return entry.replaceAll("-", " ");
}

export function lastingText({ since }: Pick<StackAlarm, "since">, now: Date): string {
  return since === undefined
    ? "is on"
    : `has been on for ${spanText(Math.max(0, now.getTime() - since.getTime()) / 1000)}`;
}

/** The alarms of a pipeline, without those of other pipelines in its stack. */
export async function pipelineAlarms({ deployment, clients }: Place): Promise<readonly StackAlarm[]> {
  const { stack, resourcePrefix, resources } = deployment;
  const alarms = await stackAlarms(clients.cloudWatch, resourcePrefix);
  return alarms.filter(({ name }) => resources.test(name.slice(stack.length + 1)));
}
