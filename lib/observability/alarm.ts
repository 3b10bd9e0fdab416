import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { AlarmMetric } from "./alarm-metrics.ts";

export type AlarmProps = {
  /** The entry of docs/operate/runbook.md: its heading in lower case, with "-" for spaces. */
  readonly entry: string;
  readonly metric: AlarmMetric;
  /** What it means for people, in sentences. */
  readonly impact: string;
  /** Why to type what, as "Set a new token: npx income-events …"; the command ends it. */
  readonly remedy: string;
  /** The time that one value is made of; whole minutes are made of it. */
  readonly period: Duration;
  /** Of the latest `outOf` values so many breach. */
  readonly breaching: number;
  readonly outOf: number;
  readonly threshold?: number;
  /** Where values at or below the threshold breach. */
  readonly raisedBelow?: boolean;
  /** It stays as it is while nothing is measured, and is neither on nor off before something was. */
  readonly staysWithoutData?: boolean;
};

/** An alarm that says in words what is wrong. Nothing measured is nothing wrong, unless it stays without data. */
export class Alarm extends Construct {
  readonly alarm: cloudwatch.Alarm;
  readonly entry: string;
  readonly staysWithoutData: boolean;

  constructor(scope: Construct, id: string, props: AlarmProps) {
    super(scope, id);
    const { metric, period, breaching, outOf, threshold = 1, raisedBelow = false } = props;
    this.entry = props.entry;
    this.staysWithoutData = props.staysWithoutData ?? false;
    const minutes = Math.max(1, Math.ceil(period.toMinutes({ integral: false })));
    this.alarm = new cloudwatch.Alarm(this, "Alarm", {
      metric: metric.with({ period: Duration.minutes(minutes) }),
      alarmDescription: `${props.impact} See docs/operate/runbook.md#${props.entry}. ${props.remedy}`,
      threshold,
      comparisonOperator: raisedBelow
        ? cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD
        : cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: breaching,
      evaluationPeriods: outOf,
      treatMissingData: this.staysWithoutData
        ? cloudwatch.TreatMissingData.IGNORE
        : cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }
}
