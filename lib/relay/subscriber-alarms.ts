import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import { Alarm } from "../observability/alarm.ts";
import { quarterOf } from "../observability/alarm-limits.ts";
import { deadLetters, oldestMessage } from "../observability/alarm-metrics.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { inWords } from "../settings/durations.ts";

/** Alerts the operator when a subscriber misses messages, or soon will. */
export class SubscriberAlarms extends Construct {
  /** @param name the subscriber's in the settings */
  constructor(scope: Construct, id: string, name: string, work: WorkQueue) {
    super(scope, id);
    const { retention } = work;
    const limit = quarterOf(retention);
    const period = Duration.minutes(5);
    new Alarm(this, "Behind", {
      entry: "subscriber-behind",
      metric: oldestMessage(work),
      impact:
        `${name} reads its queue ${inWords(limit)} late or not at all. What waits for ${inWords(retention)} ` +
        `is deleted, and ${name} never gets it.`,
      remedy: "To see whether it reads at all: npx income-events subscribers list",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "subscriber-dead-letters",
      metric: deadLetters(work),
      impact:
        `${name} misses messages: its reader failed with them five times, or its queue could not be written to. They ` +
        "wait as dead letters.",
      remedy: `To see them: npx income-events dlq show subscriber/${name}`,
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
