import { Duration } from "aws-cdk-lib";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { PipelineFunction } from "../function/pipeline-function.ts";
import { Alarm } from "../observability/alarm.ts";
import { relayLag } from "../observability/alarm-limits.ts";
import { failedEvents, logsSince, ofEventSource, sumOf } from "../observability/alarm-metrics.ts";
import { metricOfCodes } from "../observability/log-metric.ts";
import { inWords } from "../settings/durations.ts";
import type { Settings } from "../settings/settings.ts";

export type RelayAlarmsProps = {
  readonly settings: Pick<Settings, "divideDurationsBy">;
  readonly relay: PipelineFunction;
  readonly source: lambda.EventSourceMapping;
  /** The relay gives up on older changes. */
  readonly maxRecordAge: Duration;
};

/** Alerts the operator when effects of table changes are late or do not happen. */
export class RelayAlarms extends Construct {
  constructor(scope: Construct, id: string, { settings, relay, source, maxRecordAge }: RelayAlarmsProps) {
    super(scope, id);
    const limit = relayLag(maxRecordAge);
    const period = Duration.seconds(Math.ceil(300 / settings.divideDurationsBy));
    new Alarm(this, "Behind", {
      entry: "relay-behind",
      // In milliseconds, for the last record of each batch.
      metric: relay.lambda.metric("IteratorAge", { statistic: "Maximum" }),
      impact:
        `Stored changes are relayed at least ${inWords(limit)} late: delivery and fetches of new accounts are delayed. ` +
        `Changes older than ${inWords(maxRecordAge)} are not retried; repair relays them.`,
      remedy: `See why: ${logsSince("1h")}`,
      period,
      threshold: limit.toMilliseconds(),
      breaching: 1,
      outOf: 1,
    });
    new Alarm(this, "Failing", {
      entry: "relay-failing",
      metric: failedEvents(source),
      impact:
        "Changes of the table repeatedly fail to be relayed: messages and fetches of some accounts wait. Changes older " +
        `than ${inWords(maxRecordAge)} are not retried; repair relays them.`,
      remedy: `See why: ${logsSince("1h")}`,
      period,
      breaching: 2,
      outOf: 3,
    });
    new Alarm(this, "GaveUp", {
      entry: "undelivered-changes",
      metric: sumOf([
        ofEventSource(source.eventSourceMappingId, "OnFailureDestinationDeliveredEventCount"),
        // Dropped events reach no bucket.
        ofEventSource(source.eventSourceMappingId, "DroppedEventCount"),
        metricOfCodes(relay, "RecordParked", ["RECORD_PARKED", "SUBSCRIBER_UNREACHABLE"]),
      ]),
      impact:
        "The relay parked changes of the table, or stopped retrying them: their states, fetches and messages are missing. " +
        "Or a subscriber's queue has refused messages for 15 minutes.",
      remedy: "Relay them: npx income-events repair --failures",
      period,
      breaching: 1,
      outOf: 1,
    });
  }
}
