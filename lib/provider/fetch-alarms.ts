import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import { Alarm } from "../observability/alarm.ts";
import { fetchBacklog, oldestAge } from "../observability/alarm-limits.ts";
import { deadLetters, oldestMessage, sumOf } from "../observability/alarm-metrics.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";

/** SQS: a message is delayed at most 15 minutes; what waits longer is sent again, and its age starts over. */
const longestDelay = Duration.minutes(15);

/** Alerts the operator when calls to the provider come too late, are too many, or were given up. */
export class FetchAlarms extends Construct {
  constructor(scope: Construct, id: string, work: WorkQueue, settings: Settings) {
    super(scope, id);
    const delay = Duration.seconds(
      Math.min(longestDelay.toSeconds(), Math.ceil(longestWaitInSeconds(settings))),
    );
    const limit = oldestAge(work.visibilityTimeout, work.retention, delay);
    const period = Duration.minutes(5);
    new Alarm(this, "Late", {
      entry: "fetching-late",
      metric: oldestMessage(work),
      impact:
        `Nobody has taken a call to the provider for ${inWords(limit)}: new accounts and new income data are not ` +
        "being fetched. Calls wait, nothing is lost.",
      remedy: "To see what stands still: npx income-events doctor",
      period,
      threshold: limit.toSeconds(),
      breaching: 1,
      outOf: 1,
    });
    const { requestsPerMinute } = settings.provider;
    const { queue } = work;
    const statistic = { statistic: "Maximum" };
    new Alarm(this, "Long", {
      entry: "fetching-behind",
      metric: sumOf([
        queue.metricApproximateNumberOfMessagesVisible(statistic),
        queue.metricApproximateNumberOfMessagesDelayed(statistic),
      ]),
      impact:
        "More calls to the provider wait than its rate lets through in an hour: new accounts and new income data are " +
        "fetched late. It catches up by itself once fewer come.",
      remedy: "To see whether the queue grows: npx income-events status",
      period,
      threshold: fetchBacklog(requestsPerMinute),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "DeadLetters", {
      entry: "fetching-dead-letters",
      metric: deadLetters(work),
      impact:
        "Calls to the provider were given up: the income data, or the state, of those accounts is not fetched until " +
        "somebody sends them again.",
      remedy: "To see them with their reasons: npx income-events dlq show fetch",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}

function longestWaitInSeconds({ fetch, provider }: Settings): number {
  return Math.max(fetch.retry.maxSeconds, fetch.readAfterSeconds, provider.breaker.maxSeconds);
}
