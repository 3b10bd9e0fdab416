import { startAlarms } from "@income-events/local-stack/alarms/alarms.ts";
import { parseLogPattern, valueOfLine } from "@income-events/local-stack/alarms/log-pattern.ts";
import type {
  AlarmPlan,
  CompositeAlarmPlan,
  MetricFilterPlan,
} from "@income-events/local-stack/assembly/plan.ts";
import { describe, expect, test } from "vitest";

const minute = 60_000;
const filter: MetricFilterPlan = {
  logicalId: "Filter",
  logGroupName: "/work",
  pattern: { field: "code", texts: ["COUNTED"] },
  metric: { namespace: "stack", name: "Count" },
  value: { field: "count" },
};
const alarm: AlarmPlan = {
  logicalId: "Counted",
  name: "counted",
  description: "Something was counted.",
  metrics: [{ ...filter.metric, dimensions: {}, statistic: "Sum" }],
  taken: "alone",
  periodSeconds: 60,
  breaches: "above",
  missing: "notBreaching",
  threshold: 1,
  evaluationPeriods: 1,
  datapointsToAlarm: 1,
  actions: ["on-call"],
  okActions: [],
};
const waiting: AlarmPlan = {
  ...alarm,
  logicalId: "Waiting",
  name: "waiting",
  missing: "ignore",
  evaluationPeriods: 3,
  datapointsToAlarm: 3,
};

function started(alarms: readonly AlarmPlan[], compositeAlarms: readonly CompositeAlarmPlan[] = []) {
  let time = Date.parse("2026-11-24T12:00:00Z");
  const notices: string[] = [];
  const running = startAlarms({
    alarms,
    compositeAlarms,
    filters: [filter],
    totalOf: () => undefined,
    gaugeOf: async () => undefined,
    delay: (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    now: () => time,
    onChange: () => undefined,
    onNotice: (notice) => notices.push(`${notice.alarm} ${notice.state} to ${notice.topic}`),
  });
  return {
    notices,
    /**
     * Advances a minute with this count, or none.
     * @returns the states
     */
    pass: (count?: number) => {
      time += minute;
      if (count !== undefined) running.onLine("/work", JSON.stringify({ code: "COUNTED", count }));
      return running.states().map(({ state }) => state);
    },
    [Symbol.asyncDispose]: () => running.close(),
  };
}

test("a new alarm becomes OK at its first evaluation, and notifies its OK actions", async () => {
  await using running = started([{ ...alarm, okActions: ["on-call"] }]);
  for (const count of [undefined, undefined, 1, undefined]) running.pass(count);
  expect(running.notices).toEqual([
    "counted OK to on-call",
    "counted ALARM to on-call",
    "counted OK to on-call",
  ]);
});

test("an alarm that ignores what is missing stays as it is until values decide", async () => {
  await using running = started([waiting]);
  const after = (...counts: (number | undefined)[]) => counts.map((count) => running.pass(count)[0]);
  expect(after(undefined, 1, 1)).toEqual(Array(3).fill("INSUFFICIENT_DATA"));
  expect(after(1, undefined, undefined, undefined)).toEqual(Array(4).fill("ALARM"));
  expect(after(1, 0, undefined, 1, undefined)).toEqual(["ALARM", "OK", "OK", "OK", "OK"]);
});

test("a composite alarm notifies once all of its alarms are over, and those that wait have had data", async () => {
  const composite: CompositeAlarmPlan = {
    logicalId: "Any",
    name: "any",
    description: "Any of them.",
    terms: [
      { alarm: "counted", state: "ALARM", isNegated: false },
      { alarm: "waiting", state: "OK", isNegated: true },
    ],
    actions: [],
    okActions: ["on-call"],
  };
  await using running = started([alarm, waiting], [composite]);
  running.pass();
  expect(running.notices).toEqual([]);
  running.pass(0);
  expect(running.notices.splice(0)).toEqual(["any OK to on-call"]);
  for (const count of [1, 1, 0, 0]) running.pass(count);
  expect(running.notices).toEqual(["counted ALARM to on-call", "any OK to on-call"]);
});

const pattern = parseLogPattern('{ $.code = "GAP_FOUND" }');

describe("a filter pattern", () => {
  test("matches lines of JSON objects with the text in the field", () => {
    expect(valueOfLine('{"code":"GAP_FOUND"}', pattern, 1)).toBe(1);
    for (const line of [
      '{"code":"GAP"}',
      '{"other":"GAP_FOUND"}',
      '["GAP_FOUND"]',
      "GAP_FOUND",
      '{"code":"GAP_F',
      "",
    ]) {
      expect(valueOfLine(line, pattern, 1)).toBeUndefined();
    }
  });

  test("of several texts matches lines with any of them", () => {
    const any = parseLogPattern('{ ($.code = "ONE") || ($.code = "TWO") || ($.code = "THREE") }');
    for (const code of ["ONE", "TWO", "THREE"]) expect(valueOfLine(JSON.stringify({ code }), any, 1)).toBe(1);
    expect(valueOfLine('{"code":"FOUR"}', any, 1)).toBeUndefined();
  });

  test("adds the value of a field, if it is a number", () => {
    const count = { field: "count" };
    expect(valueOfLine('{"code":"GAP_FOUND","count":7}', pattern, count)).toBe(7);
    expect(valueOfLine('{"code":"GAP_FOUND","count":"7"}', pattern, count)).toBeUndefined();
    expect(valueOfLine('{"code":"GAP_FOUND"}', pattern, count)).toBeUndefined();
  });

  test.each([
    "",
    "ERROR",
    "{ $.count > 5 }",
    '{ $.code = "A*" }',
    '{ $.a.b = "X" }',
    '{ $.a = "X" || $.b = "Y" }',
    '{ ($.a = "X") || ($.b = "Y") }',
    '{ ($.a = "X") && ($.a = "Y") }',
  ])("in another form is refused by name: %s", (other) => {
    expect(() => parseLogPattern(other)).toThrow(`the filter pattern ${other} is not one`);
  });
});
