import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { failurePeriod, fetchBacklog } from "../observability/alarm-limits.ts";
import { deadLetters, logsSince, oldestMessage, sumOf } from "../observability/alarm-metrics.ts";
import type { WorkQueue } from "../receiving/work-queue.ts";
import { inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";

/** The alarm is raised after a quarter of the longest outage. */
const partOfOutage = 4;

type FetchParts = { readonly work: WorkQueue; readonly checks: WorkQueue; readonly fetch: PipelineFunction };

/** Alerts the operator when calls to the provider are late, too many, or failed for good. */
export class FetchAlarms extends Construct {
  constructor(scope: Construct, id: string, { work, checks, fetch }: FetchParts, settings: Settings) {
    super(scope, id);
    const limit = Duration.seconds(Math.ceil((settings.fetch.longestOutageHours * 3_600) / partOfOutage));
    const period = Duration.minutes(5);
    new Alarm(this, "Late", {
      entry: "fetching-late",
      metric: oldestMessage(work),
      impact:
        `A call to the provider has waited for ${inWords(limit)}: new accounts and income data are not fetched. ` +
        "Calls wait; nothing is lost.",
      remedy: "Find the cause: npx income-events doctor",
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
        queue.metricApproximateNumberOfMessagesNotVisible(statistic),
      ]),
      impact:
        "More calls to the provider wait than its rate limit allows in an hour: new accounts and income data are " +
        "fetched late. The queue drains when fewer calls arrive.",
      remedy: "Check whether the queue grows: npx income-events status",
      period,
      threshold: fetchBacklog(requestsPerMinute),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Failing", {
      entry: "fetching-failing",
      // Counts crashes only, because a task that waits is also reported as a failed item.
      metric: fetch.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "The function that calls the provider repeatedly crashes or times out: new accounts and income data are not " +
        "fetched. Calls wait; nothing is lost.",
      remedy: `To see why: ${logsSince("1h")}`,
      period: failurePeriod(work.visibilityTimeout, settings),
      breaching: 2,
      outOf: 3,
    });
    new Alarm(this, "DeadLetters", {
      entry: "fetching-dead-letters",
      metric: sumOf([deadLetters(work), deadLetters(checks)]),
      impact:
        "Calls to the provider failed permanently: the income data or the state of those accounts is not fetched until " +
        "you redrive them.",
      remedy: "Show them with their reasons: npx income-events dlq show fetch",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
