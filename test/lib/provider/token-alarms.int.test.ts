import { describe, expect, it } from "vitest";
import { z } from "zod";
import { productionSettings, synthesized } from "../synthesized.ts";

const stack = synthesized(productionSettings);

const filter = z.object({
  FilterPattern: z.string(),
  LogGroupName: z.object({ Ref: z.string() }),
  MetricTransformations: z.tuple([
    z.object({ MetricName: z.string(), MetricNamespace: z.string(), MetricValue: z.string() }),
  ]),
});
const ofRefresh = (type: string) => stack.ofType(type).filter(({ id }) => id.startsWith("Refresh"));
const allFilters = ofRefresh("AWS::Logs::MetricFilter").map(({ Properties }) => filter.parse(Properties));
// A run counts as no token missing.
const filters = allFilters.filter(({ MetricTransformations: [{ MetricValue }] }) => MetricValue !== "0");
const alarms = ofRefresh("AWS::CloudWatch::Alarm");

describe("the token's alarms", () => {
  it("are one on what puts it at risk, by the codes of the refresher, and one on each other thing", () => {
    const watched = alarms.map(({ Properties }) => `${Properties.Namespace} ${Properties.MetricName}`);
    const counted = filters.map(({ FilterPattern, MetricTransformations: [{ MetricName }] }) => [
      MetricName,
      [...FilterPattern.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code),
    ]);
    expect(counted).toEqual([
      ["TokenAtRisk", ["TOKEN_REFUSED", "TOKEN_DISCARDED", "TOKEN_SHORT_LIVED", "TOKEN_NEAR_END"]],
      ["TokenMissing", ["TOKEN_MISSING"]],
    ]);
    expect(watched).toEqual([
      ...counted.map(([name]) => `income-events-test ${String(name)}`),
      "AWS/Lambda Errors",
    ]);
  });

  it("leave it to the dashboard to show how long the token lives, without a metric that costs money each hour", () => {
    const shown = synthesized({ ...productionSettings, dashboard: true });
    const [dashboard] = shown.ofType("AWS::CloudWatch::Dashboard");
    expect(JSON.stringify(dashboard?.Properties)).toContain("TOKEN_TIME_LEFT");
    expect(JSON.stringify(shown.ofType("AWS::Logs::MetricFilter"))).not.toContain("TOKEN_TIME_LEFT");
  });

  it("stay on while a run in two says so: one period is one run", () => {
    for (const { id, Properties } of alarms.filter((alarm) => !alarm.id.includes("Missing"))) {
      const isFailing = id.includes("Failing");
      expect(Properties).toMatchObject({
        Period: 15 * 60,
        Statistic: "Sum",
        Threshold: 1,
        ComparisonOperator: "GreaterThanOrEqualToThreshold",
        TreatMissingData: "notBreaching",
        DatapointsToAlarm: isFailing ? 2 : 1,
        EvaluationPeriods: isFailing ? 3 : 2,
      });
    }
  });
});

describe("the alarm that no token is set", () => {
  const missing = (refreshEveryMinutes: number) =>
    synthesized({ ...productionSettings, token: { refreshEveryMinutes } })
      .ofType("AWS::CloudWatch::Alarm")
      .find(({ id }) => id.includes("AlarmsMissing"))?.Properties;

  it.each([
    [15, 15, 3],
    [10, 10, 3],
    [480, 480, 3],
    [1_440, 1_440, 1],
  ])(
    "leaves time to set one: at a run each %i minutes it takes %i minutes for each of %i",
    (every, minutes, runs) => {
      expect(missing(every)).toMatchObject({
        Period: minutes * 60,
        Threshold: 1,
        EvaluationPeriods: runs,
        DatapointsToAlarm: runs,
      });
    },
  );

  it("knows nothing before the first run, and stays as it is without one", () => {
    expect(missing(15)).toMatchObject({ TreatMissingData: "ignore" });
    const counting = allFilters.filter(
      ({ MetricTransformations: [{ MetricName }] }) => MetricName === "TokenMissing",
    );
    expect(
      counting.map(({ FilterPattern, MetricTransformations: [{ MetricValue }] }) => [
        FilterPattern,
        MetricValue,
      ]),
    ).toEqual([
      ['{ $.code = "TOKEN_MISSING" }', "1"],
      ['{ $.function = "refresh/token" }', "0"],
    ]);
  });
});

it("a failed run is not retried by Lambda, but by the schedule", () => {
  const config = ofRefresh("AWS::Lambda::EventInvokeConfig")[0];
  expect(config?.Properties).toMatchObject({ MaximumRetryAttempts: 0, Qualifier: "$LATEST" });
  expect(JSON.stringify(config?.Properties.FunctionName)).toContain("RefreshTokenFunction");
});
