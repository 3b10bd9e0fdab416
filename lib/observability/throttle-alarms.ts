import { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type * as lambda from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { WebhookEndpoint } from "../receiving/webhook-endpoint.ts";
import type { Relay } from "../relay/relay.ts";
import type { EventTable } from "../storage/event-table.ts";
import { Alarm } from "./alarm.ts";
import { sumOf } from "./alarm-metrics.ts";

export type ThrottleAlarmsProps = {
  readonly receiving: ReadonlyMap<string, WebhookEndpoint>;
  readonly relay: Relay;
  readonly table: EventTable;
};

/** Fewer are a short burst, and are retried. */
const manyInFiveMinutes = 10;

/** Alerts the operator when AWS throttles the pipeline. */
export class ThrottleAlarms extends Construct {
  /** Throttled invocations of store and relay. Throttled receivers and fetches have alarms of their own. */
  readonly functions: readonly Metric[];
  /** Throttled reads and writes of the table. */
  readonly table: readonly Metric[];

  constructor(scope: Construct, id: string, { receiving, relay, table }: ThrottleAlarmsProps) {
    super(scope, id);
    const throttles = (each: lambda.IFunction) => each.metricThrottles({ statistic: "Sum" });
    const stores = [...receiving.values()].map(({ store }) => throttles(store.lambda));
    this.functions = [...stores, throttles(relay.lambda)];
    this.table = ["ReadThrottleEvents", "WriteThrottleEvents"].map(
      (metricName) =>
        new Metric({
          namespace: "AWS/DynamoDB",
          metricName,
          dimensionsMap: { TableName: table.table.tableName },
          statistic: "Sum",
        }),
    );
    new Alarm(this, "Functions", {
      entry: "functions-throttled",
      // A throttled relay is late or stopped, which its own alarms show.
      metric: sumOf(stores),
      impact:
        "Lambda throttles the pipeline's functions: event storage, fetches and delivery are delayed. Nothing is lost.",
      remedy: "Show the account's limit: aws lambda get-account-settings --query AccountLimit",
      period: Duration.minutes(5),
      threshold: manyInFiveMinutes,
      breaching: 1,
      outOf: 1,
    });
  }
}
