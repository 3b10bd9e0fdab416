import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { tailOf } from "../observability/alarm-metrics.ts";
import { metricOfLines, metricOfLog } from "../observability/log-metric.ts";

const setOne = "Set a new token: npx income-events token set < token.txt";

/** What the refresher logs when an operator should know, and what that means. */
const alarms = {
  TOKEN_REFUSED: {
    entry: "token-refused",
    impact:
      "The provider refuses to refresh the token: no income data is fetched where it refuses the token too, else from " +
      "the token's end on. Tasks wait, nothing is lost.",
    remedy: setOne,
  },
  TOKEN_MISSING: {
    entry: "token-missing",
    impact: "No token of the provider is set: no income data is fetched. Tasks wait, nothing is lost.",
    remedy: "Set the token: npx income-events token set < token.txt",
  },
  TOKEN_DISCARDED: {
    entry: "token-discarded",
    impact:
      "The provider gave a new token and refused it at its first call; the old one stays in use. Should this go on until " +
      "the old one expires, no new income data is fetched.",
    remedy: setOne,
  },
  TOKEN_SHORT_LIVED: {
    entry: "token-short-lived",
    impact:
      "The provider's token lives shorter than the time between two refreshes: it can expire in between, and fetching " +
      "pauses until the next one.",
    remedy: "Lower token.refreshEveryMinutes in the stage's settings: npx cdk deploy",
  },
  TOKEN_NEAR_END: {
    entry: "token-near-end",
    impact:
      "The token should have been refreshed long ago and is near its end: when it expires, no new income data is " +
      "fetched. Tasks wait, nothing is lost.",
    remedy: setOne,
  },
} as const;

const longestWaitInMinutes = 1_440;

/** A stage that was just deployed has no token until its operator has set one: only the third run says so. */
function afterSomeRuns(refreshEveryMinutes: number, period: Duration) {
  const minutes = Math.min(longestWaitInMinutes, 3 * refreshEveryMinutes);
  const periods = Math.ceil(minutes / period.toMinutes());
  return { breaching: periods, outOf: periods, staysWithoutData: true };
}

function countRunsAsNone(
  scope: Construct,
  { logGroup, entryName }: PipelineFunction,
  { metricName }: Metric,
): void {
  const line = { field: "function", texts: [entryName] };
  metricOfLines(scope, logGroup, line, { name: metricName, value: "0" });
}

/** Alerts the operator once, in words, when the token needs care. */
export class TokenAlarms extends Construct {
  /** What is left of the token's lifetime, in seconds, as each run finds it. */
  readonly remaining: Metric;

  /** @param refreshEveryMinutes the time between two runs: while a run in two says so, an alarm stays on */
  constructor(scope: Construct, id: string, refresh: PipelineFunction, refreshEveryMinutes: number) {
    super(scope, id);
    const everyMinutes = Math.ceil(refreshEveryMinutes);
    const period = Duration.minutes(everyMinutes);
    for (const [code, alarm] of Object.entries(alarms)) {
      const metric = metricOfLog(refresh, code);
      const when =
        code === "TOKEN_MISSING" ? afterSomeRuns(refreshEveryMinutes, period) : { breaching: 1, outOf: 2 };
      new Alarm(this, metric.metricName, { ...alarm, period, ...when, metric });
      // Each run counts as none, so that the alarm knows when a token has been set.
      if (code === "TOKEN_MISSING") countRunsAsNone(this, refresh, metric);
    }
    this.remaining = metricOfLog(refresh, "TOKEN_LIFE", {
      field: "remainingInSeconds",
      name: "TokenRemainingSeconds",
    }).with({ statistic: "Minimum" });
    new Alarm(this, "Failing", {
      entry: "token-refresh-failing",
      metric: refresh.lambda.metricErrors({ statistic: "Sum" }),
      impact:
        "The token could not be refreshed in two of the last three runs: when it expires, no new income data is fetched. " +
        "It heals by itself when the provider is back.",
      remedy: `To see what failed: ${tailOf(refresh, "2h")}`,
      period,
      breaching: 2,
      outOf: 3,
    });
  }
}
