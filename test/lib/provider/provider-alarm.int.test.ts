import { describe, expect, it } from "vitest";
import { productionSettings, synthesized } from "../synthesized.ts";

function alarmOf(settings: object) {
  const stack = synthesized({ ...productionSettings, ...settings });
  const [alarm] = stack.ofType("AWS::CloudWatch::Alarm").filter(({ id }) => id.startsWith("FetchAlarmsDown"));
  return { stack, properties: alarm?.Properties ?? {} };
}

describe("the alarm that the provider is down", () => {
  it("stays on as long as probes fail: its period holds two, whatever the breaker's longest wait", () => {
    for (const maxSeconds of [20, 300, 3_600]) {
      const { properties } = alarmOf({
        provider: { ...productionSettings.provider, breaker: { maxSeconds } },
      });
      expect(properties).toMatchObject({ Threshold: 2, EvaluationPeriods: 1, Period: 3 * maxSeconds });
    }
  });
});
