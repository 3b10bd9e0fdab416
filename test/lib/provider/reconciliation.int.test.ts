import { describe, expect, it } from "vitest";
import { giveUpLimits, maxReceiveCount, waitFor } from "../../../domain/fetch/task.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { nameOf, productionSettings, synthesized } from "../synthesized.ts";

const stack = synthesized(productionSettings);
const ofReconcile = (type: string) => stack.ofType(type).filter(({ id }) => id.startsWith("Reconcile"));
const filters = ofReconcile("AWS::Logs::MetricFilter").map(({ Properties }) => Properties);

describe("reconciliation", () => {
  it("reports the drift of each run as a metric, from what the function logs", () => {
    expect(filters).toContainEqual({
      FilterPattern: '{ $.code = "RECONCILED" }',
      LogGroupName: { Ref: expect.stringMatching(/^ReconcileUsersLogs/) },
      MetricTransformations: [
        expect.objectContaining({
          MetricNamespace: "income-events-test",
          MetricName: "ReconciliationDrift",
          MetricValue: "$.drift",
        }),
      ],
    });
  });

  it("starts after lost webhooks at most every 15 minutes, from the metrics of each kind of loss", () => {
    const metricOf = (pattern: string) => {
      const found = stack
        .ofType("AWS::Logs::MetricFilter")
        .find(({ Properties }) => Properties.FilterPattern === pattern);
      return JSON.parse(JSON.stringify(found?.Properties.MetricTransformations))[0].MetricName;
    };
    expect(stack.bundles.get("reconcile/users")).toMatchObject({
      reconcile: { missed: { atMostEveryMinutes: 15, gapMinutes: 10 } },
      metrics: {
        throttled: metricOf('{ $.status = "429" }'),
        notKept: metricOf('{ $.code = "WEBHOOK_NOT_KEPT" }'),
      },
    });
  });

  it("describes a failed or overdue run, with the remedy", () => {
    // One metric counts both codes.
    expect(
      filters.find((each) => JSON.stringify(each).includes('"ReconciliationIncomplete"'))?.FilterPattern,
    ).toBe('{ ($.code = "RECONCILIATION_FAILED") || ($.code = "RECONCILIATION_OVERDUE") }');
    const daily = { Threshold: 1, Period: 86_400 };
    expect(ofReconcile("AWS::CloudWatch::Alarm").map(({ Properties }) => Properties)).toMatchObject([
      {
        ...{ MetricName: "ReconciliationIncomplete", Period: 86_400, EvaluationPeriods: 1 },
        TreatMissingData: "notBreaching",
        AlarmDescription: expect.stringMatching(/settings reconcile, .*npx income-events logs /),
      },
      { MetricName: "Errors", Threshold: 1, Period: 900, DatapointsToAlarm: 2, EvaluationPeriods: 3 },
      {
        ...{ ...daily, MetricName: "DeletionsHeld" },
        AlarmDescription: expect.stringContaining("npx income-events reconcile accept-deletions"),
      },
      { ...daily, MetricName: "ReconciliationDrift", Threshold: 10 },
    ]);
  });

  it("is not repeated by Lambda: the run goes on with the next tick", () => {
    const [config] = ofReconcile("AWS::Lambda::EventInvokeConfig");
    expect(nameOf(JSON.stringify(config?.Properties.FunctionName))).toContain("ReconcileUsersFunction");
    expect(config?.Properties).toMatchObject({ MaximumRetryAttempts: 0 });
  });
});

const { longestOutageHours, retry } = parseSettings(productionSettings, "production").fetch;

/** Receives of a task during the longest outage, with the shortest jittered waits. */
function receivesOfOutage(): number {
  let receives = 0;
  for (let seconds = 0; seconds < longestOutageHours * 3_600; receives += 1)
    seconds += Math.min(...[0, 1].map((random) => waitFor(receives + 1, retry, random)));
  return receives;
}

it.each(["FetchWorkQueue", "FetchChecksQueue"])(
  "a task bears 12 hours without concurrency beside the longest outage of the provider: %s",
  (name) => {
    const { RedrivePolicy, MessageRetentionPeriod, VisibilityTimeout } = stack.withId(name).Properties;
    expect(RedrivePolicy).toMatchObject({ maxReceiveCount });
    const { maxReceives } = giveUpLimits(Number(MessageRetentionPeriod));
    // Each lasts for the queue's visibility timeout.
    const receivesInVain = maxReceives - receivesOfOutage();
    expect(receivesInVain * Number(VisibilityTimeout)).toBeGreaterThan(12 * 3_600);
  },
);
