import { type StackAlarm, stackAlarms } from "../../../adapters/aws/stack-alarms.ts";
import type { Operation } from "../core/command.ts";
import { spanText } from "../core/spans.ts";

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
export async function pipelineAlarms({
  deployment,
  clients,
}: Pick<Operation, "deployment" | "clients">): Promise<readonly StackAlarm[]> {
  const { stack, resourcePrefix, resources } = deployment;
  const alarms = await stackAlarms(clients.cloudWatch, resourcePrefix);
  return alarms.filter(({ name }) => resources.test(name.slice(stack.length + 1)));
}
