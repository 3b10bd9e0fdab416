import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import { Alarm } from "../observability/alarm.ts";
import { oldestAge } from "../observability/alarm-limits.ts";
import { deadLetters, oldestMessage } from "../observability/alarm-metrics.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { inWords } from "../settings/durations.ts";

/** The second look at an erasure is delayed as long as SQS can. */
const longestDelay = Duration.minutes(15);

/** Alerts the operator when somebody who is to be erased is not. */
export class ErasureAlarms extends Construct {
  constructor(scope: Construct, id: string, work: WorkQueue) {
    super(scope, id);
    const limit = oldestAge(work.visibilityTimeout, work.retention, longestDelay);
    const period = Duration.minutes(5);
    new Alarm(this, "Late", {
      entry: "erasure-late",
      metric: oldestMessage(work),
      impact: `An erasure has waited for ${inWords(limit)}: the data of somebody who is to be erased is still there.`,
      remedy: "To see what stands still: npx income-events doctor",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "erasure-dead-letters",
      metric: deadLetters(work),
      impact:
        "An erasure failed for good: the data of somebody who is to be erased is still there, and the request for it is " +
        "dropped 14 days after it was made.",
      remedy: "To see it with its reason: npx income-events dlq show erase",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
