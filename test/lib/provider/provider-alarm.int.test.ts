import { describe, expect, it } from "vitest";
import { logCodes } from "../../../functions/runtime/log.ts";
import { productionSettings, synthesized } from "../synthesized.ts";

function alarmOf(settings: object) {
  const stack = synthesized({ ...productionSettings, ...settings });
  const [alarm] = stack.ofType("AWS::CloudWatch::Alarm").filter(({ id }) => id.startsWith("FetchAlarmsDown"));
  return { stack, properties: alarm?.Properties ?? {} };
}

describe("the alarm that the provider is down", () => {
  it("counts what the breaker reports in the fetch function's log", () => {
    const { stack, properties } = alarmOf({});
    const [filter] = stack.ofType("AWS::Logs::MetricFilter").filter(({ id }) => id.startsWith("Fetch"));
    expect(filter?.Properties).toMatchObject({
      FilterPattern: '{ $.code = "PROVIDER_DOWN" }',
      MetricTransformations: [{ MetricName: properties.MetricName, MetricNamespace: properties.Namespace }],
    });
    expect(Object.keys(logCodes)).toContain("PROVIDER_DOWN");
  });

  it("stays on as long as probes fail: its period holds two, whatever the breaker's longest wait", () => {
    for (const maxSeconds of [20, 300, 3_600]) {
      const { properties } = alarmOf({
        provider: { ...productionSettings.provider, breaker: { maxSeconds } },
      });
      expect(properties).toMatchObject({ Threshold: 2, EvaluationPeriods: 1, Period: 3 * maxSeconds });
    }
  });

  it("says what it means for people, how long nothing is lost, and what to type", () => {
    const { properties } = alarmOf({ fetch: { longestOutageHours: 48 } });
    const description = JSON.stringify(properties.AlarmDescription);
    expect(description).toMatch(
      /no new income data is fetched.*nothing is lost within 48 hours.*aws logs tail/,
    );
  });
});
