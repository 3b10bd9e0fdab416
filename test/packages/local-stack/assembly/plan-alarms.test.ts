import { describe, expect, test } from "vitest";
import { functionResources, type Resource } from "../../../support/assembly.ts";
import { planned, problemsOf } from "./planned.ts";

const filter = {
  Type: "AWS::Logs::MetricFilter",
  Properties: {
    FilterPattern: '{ $.code = "GAP_FOUND" }',
    LogGroupName: { Ref: "WorkLogs" },
    MetricTransformations: [{ MetricName: "Gap", MetricNamespace: "test", MetricValue: "$.count" }],
  },
};
const properties = {
  AlarmDescription: { "Fn::Join": ["", ["Read ", { Ref: "WorkLogs" }]] },
  ComparisonOperator: "GreaterThanOrEqualToThreshold",
  EvaluationPeriods: 2,
  MetricName: "Gap",
  Namespace: "test",
  Period: 60,
  Statistic: "Sum",
  Threshold: 1,
  TreatMissingData: "notBreaching",
  AlarmActions: [{ Ref: "Topic" }],
};
const alarm = (changes: object = {}) => ({
  Type: "AWS::CloudWatch::Alarm",
  Properties: { ...properties, ...changes },
});
const composite = (AlarmRule: unknown) => ({
  Type: "AWS::CloudWatch::CompositeAlarm",
  Properties: { AlarmDescription: "Any of them.", AlarmRule, OKActions: [{ Ref: "Topic" }] },
});
const errors = {
  Id: "a",
  MetricStat: {
    Metric: {
      Namespace: "AWS/Lambda",
      MetricName: "Errors",
      Dimensions: [{ Name: "FunctionName", Value: { Ref: "Work" } }],
    },
    Period: 300,
    Stat: "Sum",
  },
  ReturnData: false,
};
const { MetricName: _, Namespace: __, Period: ___, Statistic: ____, ...rest } = properties;
const stack = {
  ...functionResources("Work"),
  Filter: filter,
  Topic: { Type: "AWS::SNS::Topic" },
  Alarm: alarm(),
};

describe("an alarm", () => {
  test("on a resource that does not run here is not run either", async () => {
    const Dimensions = [{ Name: "BackupVaultName", Value: { "Fn::GetAtt": ["Vault", "BackupVaultName"] } }];
    const Backups = alarm({ Namespace: "AWS/Backup", MetricName: "NumberOfBackupJobsFailed", Dimensions });
    const Any = composite({
      "Fn::Join": ["", ['ALARM("', { Ref: "Backups" }, '") OR ALARM("', { Ref: "Alarm" }, '")']],
    });
    const plan = await planned({ ...stack, Vault: { Type: "AWS::Backup::BackupVault" }, Backups, Any });
    expect(plan.alarms.map(({ logicalId }) => logicalId)).toEqual(["Alarm"]);
    expect(plan.compositeAlarms).toMatchObject([
      { terms: [{ alarm: "Test-Backups" }, { alarm: "Test-Alarm" }] },
    ]);
    expect(plan.notRun).toContain("Backups (AWS::CloudWatch::Alarm)");
  });

  test.each<[string, Resource, RegExp]>([
    [
      "a rule in another form",
      composite('ALARM("a") AND ALARM("b")'),
      /its rule says ALARM\("a"\) AND ALARM\("b"\), which is not understood here/,
    ],
    [
      "an expression in another form",
      { ...alarm(), Properties: { ...rest, Metrics: [{ Id: "all", Expression: "a / 2" }, errors] } },
      /Expression/,
    ],
    [
      "lines of another filter pattern",
      { ...filter, Properties: { ...filter.Properties, FilterPattern: "{ $.count > 5 }" } },
      /does not know the filter pattern {2}\$\.count > 5/,
    ],
    [
      "counts of events that its event source does not count",
      alarm({
        Namespace: "AWS/Lambda",
        MetricName: "DroppedEventCount",
        Dimensions: [{ Name: "EventSourceMappingUUID", Value: "somebody-elses" }],
      }),
      /its metric AWS\/Lambda DroppedEventCount is not measured here/,
    ],
    [
      "a metric that nothing measures",
      alarm({ MetricName: "Other" }),
      /its metric test Other is not measured/,
    ],
    ["another dimension", alarm({ Dimensions: [{ Name: "QueueName", Value: "x" }] }), /its metric test Gap/],
    ["another statistic", alarm({ Statistic: "Average" }), /Statistic/],
    ["another comparison", alarm({ ComparisonOperator: "LessThanThreshold" }), /ComparisonOperator/],
    ["missing data that stays missing", alarm({ TreatMissingData: "missing" }), /TreatMissingData/],
    ["a property that is not known here", alarm({ ThresholdMetricId: "x" }), /ThresholdMetricId/],
  ])("on %s is refused", async (_, Other, expected) => {
    expect(await problemsOf({ ...stack, Other })).toEqual([expect.stringMatching(expected)]);
  });
});
