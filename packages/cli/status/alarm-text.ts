import type { StackAlarm } from "../../../adapters/aws/stack-alarms.ts";
import { spanText } from "../core/spans.ts";

/** What an alarm is about, in the words of the runbook. */
export function alarmName({ entry }: Pick<StackAlarm, "entry">): string {
  return entry.replaceAll("-", " ");
}

/** How long an alarm has been on. */
export function lastingText({ since }: Pick<StackAlarm, "since">, now: Date): string {
  return since === undefined
    ? "is on"
    : `has been on for ${spanText(Math.max(0, now.getTime() - since.getTime()) / 1000)}`;
}
