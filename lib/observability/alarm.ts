import { Duration } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { AlarmMetric } from "./alarm-metrics.ts";

export type AlarmProps = {
  /** Anchor of the alarm's entry in docs/operate/runbook.md: its heading in lower case, with "-" for spaces. */
  readonly entry: string;
  readonly metric: AlarmMetric;
  /** What the alarm means for people, in sentences. */
  readonly impact: string;
  /** Purpose and command, such as "Set a new token: npx income-events …"; the command comes last. */
  readonly remedy: string;
  /** Length of one evaluation period, rounded up to whole minutes. */
  readonly period: Duration;
  /** Number of breaching periods among the latest `outOf` that raises the alarm. */
  readonly breaching: number;
  readonly outOf: number;
  readonly threshold?: number;
  /** Whether values at or below the threshold breach. */
  readonly raisedBelow?: boolean;
  /** Whether missing data keeps the alarm's state; before the first data it is neither raised nor OK. */
  readonly staysWithoutData?: boolean;
};

/** An alarm that describes its impact and remedy. Missing data does not breach, unless `staysWithoutData` is set. */
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
