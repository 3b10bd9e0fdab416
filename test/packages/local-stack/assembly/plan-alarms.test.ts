import { describe, expect, test } from "vitest";
import { functionResources } from "../../../support/assembly.ts";
import { planned, problemsOf } from "./planned.ts";

describe("an alarm", () => {
  const topic = { Type: "AWS::SNS::Topic" };
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

  test("watches the metric of a metric filter on a log group", async () => {
    const plan = await planned({
      ...functionResources("Work"),
      Filter: filter,
      Topic: topic,
      Alarm: alarm(),
    });
    expect(plan.metricFilters).toEqual([
      {
        logicalId: "Filter",
        logGroupName: "/test/Work",
        matches: expect.any(Function),
        metric: { namespace: "test", name: "Gap" },
        value: { field: "count" },
      },
    ]);
    expect(plan.alarms).toEqual([
      {
        logicalId: "Alarm",
        name: "Test-Alarm",
        description: "Read /test/Work",
        metrics: [{ namespace: "test", name: "Gap", dimensions: {}, statistic: "Sum" }],
        taken: "alone",
        periodSeconds: 60,
        breaches: "above",
        missing: "notBreaching",
        threshold: 1,
        evaluationPeriods: 2,
        datapointsToAlarm: 2,
        actions: ["Topic"],
        okActions: [],
      },
    ]);
  });

  const series = (id: string, name: string) => ({
    Id: id,
    MetricStat: {
      Metric: {
        Namespace: "AWS/Lambda",
        MetricName: name,
        Dimensions: [{ Name: "FunctionName", Value: { Ref: "Work" } }],
      },
      Period: 300,
      Stat: "Sum",
    },
    ReturnData: false,
  });
  const { MetricName: _, Namespace: __, Period: ___, Statistic: ____, ...rest } = properties;
  const together = (Expression: string, ...metrics: object[]) => ({
    Type: "AWS::CloudWatch::Alarm",
    Properties: { ...rest, Metrics: [{ Id: "all", Expression }, ...metrics] },
  });

  test("watches several metrics together, and a lack of them", async () => {
    const lack = { ComparisonOperator: "LessThanOrEqualToThreshold", TreatMissingData: "breaching" };
    const { Properties } = together(
      "MAX(FILL(METRICS(), 0))",
      series("a", "Errors"),
      series("b", "Throttles"),
    );
    const Alarm = { Type: "AWS::CloudWatch::Alarm", Properties: { ...Properties, ...lack } };
    const plan = await planned({ ...functionResources("Work"), Topic: topic, Alarm });
    expect(plan.alarms).toMatchObject([
      {
        metrics: [{ name: "Errors" }, { name: "Throttles" }],
        taken: "as greatest",
        periodSeconds: 300,
        breaches: "below",
        missing: "breaching",
      },
    ]);
  });

  test("watches what one metric counts while another counts nothing", async () => {
    const Alarm = together("m0 > m0 * m1", series("m1", "Throttles"), series("m0", "Errors"));
    const plan = await planned({ ...functionResources("Work"), Topic: topic, Alarm });
    const metrics = [{ name: "Errors" }, { name: "Throttles" }];
    expect(plan.alarms).toMatchObject([{ metrics, taken: "first without second" }]);
  });

  test("watches a metric within hours of the week", async () => {
    const weekdays = "IF(DAY(m0) >= 1 AND DAY(m0) <= 5 AND HOUR(m0) >= 7 AND HOUR(m0) < 19, m0, 1)";
    const Alarm = together(weekdays, series("m0", "Errors"));
    const plan = await planned({ ...functionResources("Work"), Topic: topic, Alarm });
    const during = { firstDay: 1, lastDay: 5, from: 7, to: 19 };
    expect(plan.alarms).toMatchObject([{ metrics: [{ name: "Errors" }], taken: "alone", during }]);
  });

  const composite = (AlarmRule: unknown) => ({
    Type: "AWS::CloudWatch::CompositeAlarm",
    Properties: { AlarmDescription: "Any of them.", AlarmRule, OKActions: [{ Ref: "Topic" }] },
  });
  const others = { ...functionResources("Work"), Filter: filter, Topic: topic, Alarm: alarm() };

  test("is taken together with others, of which one suffices", async () => {
    const Any = composite({
      "Fn::Join": ["", ['ALARM("', { Ref: "Alarm" }, '") OR NOT OK("', { Ref: "Alarm" }, '")']],
    });
    const plan = await planned({ ...others, Any });
    expect(plan.compositeAlarms).toEqual([
      {
        logicalId: "Any",
        name: "Test-Any",
        description: "Any of them.",
        terms: [
          { alarm: "Test-Alarm", state: "ALARM", isNegated: false },
          { alarm: "Test-Alarm", state: "OK", isNegated: true },
        ],
        actions: [],
        okActions: ["Topic"],
      },
    ]);
  });

  test("is not taken together by another rule", async () => {
    const Any = composite('ALARM("a") AND ALARM("b")');
    expect(await problemsOf({ ...others, Any })).toEqual([
      expect.stringMatching(/Any: its rule says ALARM\("a"\) AND ALARM\("b"\), which is not understood here/),
    ]);
  });

  test("on an expression in another form is refused", async () => {
    const Alarm = together("a / b", series("a", "Errors"), series("b", "Throttles"));
    expect(await problemsOf({ ...functionResources("Work"), Topic: topic, Alarm })).toEqual([
      expect.stringMatching(/Expression/),
    ]);
  });

  test("on lines of another filter pattern is refused by name", async () => {
    const Filter = { ...filter, Properties: { ...filter.Properties, FilterPattern: "{ $.count > 5 }" } };
    expect(await problemsOf({ ...others, Filter })).toContainEqual(
      expect.stringMatching(/Filter: .* does not know the filter pattern {2}\$\.count > 5/),
    );
  });

  test("on counts of events is refused if the event source counts none", async () => {
    const metric = {
      Namespace: "AWS/Lambda",
      MetricName: "DroppedEventCount",
      Dimensions: [{ Name: "EventSourceMappingUUID", Value: "somebody-elses" }],
    };
    expect(await problemsOf({ ...functionResources("Work"), Topic: topic, Alarm: alarm(metric) })).toEqual([
      expect.stringMatching(/its metric AWS\/Lambda DroppedEventCount is not measured here/),
    ]);
  });

  test("on a resource that does not run here is not run either", async () => {
    const Dimensions = [{ Name: "BackupVaultName", Value: { "Fn::GetAtt": ["Vault", "BackupVaultName"] } }];
    const Backups = alarm({ Namespace: "AWS/Backup", MetricName: "NumberOfBackupJobsFailed", Dimensions });
    const Any = composite({
      "Fn::Join": ["", ['ALARM("', { Ref: "Backups" }, '") OR ALARM("', { Ref: "Alarm" }, '")']],
    });
    const plan = await planned({ ...others, Vault: { Type: "AWS::Backup::BackupVault" }, Backups, Any });
    expect(plan.alarms.map(({ logicalId }) => logicalId)).toEqual(["Alarm"]);
    expect(plan.compositeAlarms).toMatchObject([
      { terms: [{ alarm: "Test-Backups" }, { alarm: "Test-Alarm" }] },
    ]);
    expect(plan.notRun).toContain("Backups (AWS::CloudWatch::Alarm)");
  });

  test.each([
    ["a metric that nothing measures", { MetricName: "Other" }, /its metric test Other is not measured here/],
    ["another dimension", { Dimensions: [{ Name: "QueueName", Value: "x" }] }, /its metric test Gap/],
    ["another statistic", { Statistic: "Average" }, /Statistic/],
    ["another comparison", { ComparisonOperator: "LessThanThreshold" }, /ComparisonOperator/],
    ["missing data that stays missing", { TreatMissingData: "missing" }, /TreatMissingData/],
    ["a property that is not known here", { ThresholdMetricId: "x" }, /ThresholdMetricId/],
  ])("on %s is refused", async (_, changes, expected) => {
    expect(
      await problemsOf({ ...functionResources("Work"), Filter: filter, Topic: topic, Alarm: alarm(changes) }),
    ).toEqual([expect.stringMatching(expected)]);
  });
});
