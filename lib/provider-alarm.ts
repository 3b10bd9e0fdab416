import { Duration } from "aws-cdk-lib";
import { Construct } from "constructs";
import { Alarm } from "./alarm.ts";
import { metricOfLog } from "./log-metric.ts";
import type { PipelineFunction } from "./pipeline-function.ts";
import type { Settings } from "./settings.ts";

/** Tells the operator once that the provider is down, however long that lasts. */
export class ProviderAlarm extends Construct {
  constructor(scope: Construct, id: string, fetch: PipelineFunction, settings: Settings) {
    super(scope, id);
    const { longestOutageHours } = settings.fetch;
    new Alarm(this, "Down", {
      metric: metricOfLog(fetch, "PROVIDER_DOWN"),
      description:
        "The provider fails call after call: no new income data is fetched until it is back. Tasks wait, and nothing is " +
        `lost within ${longestOutageHours} hours; then they go to the dead-letter queue (fetch.longestOutageHours). It ` +
        "catches up by itself. To see how it fails: " +
        `aws logs tail ${fetch.logGroup.logGroupName} --since 1h`,
      // While it is down it is probed at least so often; one failed probe alone may be a moment's trouble.
      period: Duration.seconds(3 * settings.provider.breaker.maxSeconds),
      threshold: 2,
      breaching: 1,
      outOf: 1,
    });
  }
}
