import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";

export type AlarmProps = {
  readonly metric: cloudwatch.Metric;
  /** What it means for people, and what to type. */
  readonly description: string;
  /** The time that one value is summed up over; whole minutes are made of it. */
  readonly period: Duration;
  /** Of the latest `outOf` values so many are at or over the threshold. */
  readonly breaching: number;
  readonly outOf: number;
  readonly threshold?: number;
};

/** An alarm that says in words what is wrong. Where nothing is measured, nothing is wrong. */
export class Alarm extends Construct {
  constructor(scope: Construct, id: string, props: AlarmProps) {
    super(scope, id);
    const { metric, description, period, breaching, outOf, threshold = 1 } = props;
    const minutes = Math.max(1, Math.ceil(period.toMinutes({ integral: false })));
    new cloudwatch.Alarm(this, "Alarm", {
      metric: metric.with({ period: Duration.minutes(minutes) }),
      alarmDescription: description,
      threshold,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: breaching,
      evaluationPeriods: outOf,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }
}
