import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import { Alarm } from "./alarm.ts";
import { metricOfLog } from "./log-metric.ts";
import type { PipelineFunction } from "./pipeline-function.ts";

/** What the refresher logs when an operator should know, and what that means. */
const alarms = {
  TOKEN_REFUSED:
    "The provider refuses to refresh the token: when it expires, no new income data is fetched. Tasks wait, nothing " +
    "is lost. Set a new token: npx income-events token set < token.txt",
  TOKEN_MISSING:
    "No token of the provider is set: no income data is fetched. Tasks wait, nothing is lost. Set the token: " +
    "npx income-events token set < token.txt",
  TOKEN_DISCARDED:
    "The provider gave a new token and refused it at its first call; the old one stays in use. Should this go on until " +
    "the old one expires, no new income data is fetched. Set a new token: npx income-events token set < token.txt",
  TOKEN_SHORT_LIVED:
    "The provider's token lives shorter than the time between two refreshes: it can expire in between, and fetching " +
    "pauses until the next one. Lower token.refreshEveryMinutes in the stage's settings: npx cdk deploy",
} as const;

/** Tells the operator once, in words, when the token needs care. */
export class TokenAlarms extends Construct {
  /** @param refreshEveryMinutes the time between two runs: while a run in two says so, an alarm stays on */
  constructor(scope: Construct, id: string, refresh: PipelineFunction, refreshEveryMinutes: number) {
    super(scope, id);
    const period = Duration.minutes(Math.ceil(refreshEveryMinutes));
    for (const [code, description] of Object.entries(alarms)) {
      const metric = metricOfLog(refresh, code);
      new Alarm(this, metric.metricName, { metric, description, period, breaching: 1, outOf: 2 });
    }
    new Alarm(this, "Failing", {
      metric: refresh.lambda.metricErrors({ statistic: "Sum" }),
      description:
        "The token could not be refreshed in two of the last three runs: when it expires, no new income data is fetched. " +
        "It heals by itself when the provider is back. To see what failed: " +
        `aws logs tail ${refresh.logGroup.logGroupName} --since 2h`,
      period,
      breaching: 2,
      outOf: 3,
    });
  }
}
