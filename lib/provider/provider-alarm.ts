import { Duration } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { tailOf } from "../observability/alarm-metrics.ts";
import { metricOfLog } from "../observability/log-metric.ts";
import type { Settings } from "../settings/settings.ts";

/** Alerts the operator once that the provider is down, however long that lasts. */
export class ProviderAlarm extends Construct {
  readonly down: Metric;

  constructor(scope: Construct, id: string, fetch: PipelineFunction, settings: Settings) {
    super(scope, id);
    const { longestOutageHours } = settings.fetch;
    this.down = metricOfLog(fetch, "PROVIDER_DOWN");
    new Alarm(this, "Down", {
      entry: "provider-down",
      metric: this.down,
      impact:
        "The provider fails call after call: no new income data is fetched until it is back. Tasks wait, and nothing is " +
        `lost within ${longestOutageHours} hours (fetch.longestOutageHours); after that, tasks may be dead letters. It ` +
        "catches up by itself.",
      remedy: `To see how it fails: ${tailOf(fetch, "1h")}`,
      // While it is down it is probed at least so often; one failed probe alone may be a moment's trouble.
      period: Duration.seconds(3 * settings.provider.breaker.maxSeconds),
      threshold: 2,
      breaching: 1,
      outOf: 1,
    });
  }
}
