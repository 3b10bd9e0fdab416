import { afterEach, beforeEach, expect, test } from "vitest";
import { type Alarms, startAlarms } from "../../../local/alarms/alarms.ts";
import type { AlarmPlan, MetricFilterPlan } from "../../../local/assembly/plan.ts";

const minute = 60_000;
const refusedFilter: MetricFilterPlan = {
  logicalId: "Filter",
  logGroupName: "/refresh",
  pattern: { field: "code", text: "REFUSED" },
  metric: { namespace: "stack", name: "Refused" },
  value: 1,
};
const refused: AlarmPlan = {
  logicalId: "Refused",
  name: "stack-Refused",
  description: "The token was refused. Set a new one.",
  metric: refusedFilter.metric,
  periodSeconds: 900,
  threshold: 1,
  evaluationPeriods: 2,
  datapointsToAlarm: 1,
};
const failing: AlarmPlan = {
  ...refused,
  logicalId: "Failing",
  metric: { namespace: "AWS/Lambda", name: "Errors", functionName: "refresh" },
  evaluationPeriods: 3,
  datapointsToAlarm: 2,
};
const line = '{"code":"REFUSED"}';

let time: number;
let errors: number;
let told: string[];
let alarms: Alarms | undefined;

beforeEach(() => {
  time = Date.parse("2026-11-21T12:00:00Z");
  errors = 0;
  told = [];
});
afterEach(() => alarms?.close());

/** Alarms by a clock that the test moves; each minute's look at them is the test's too. */
function started(plans: readonly AlarmPlan[], filters: readonly MetricFilterPlan[] = [refusedFilter]) {
  const running = startAlarms({
    alarms: plans,
    filters,
    errorsOf: (name) => (name === "refresh" ? errors : 0),
    delay: (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    now: () => time,
    onChange: ({ logicalId, state }) => told.push(`${logicalId} ${state}`),
  });
  alarms = running;
  return running;
}

/** Looks each minute, as CloudWatch does. */
function pass(minutes: number, running: Alarms): void {
  for (let passed = 0; passed < minutes; passed += 1) {
    time += minute;
    running.states();
  }
}

test("an alarm goes off where its metric breaches, is told once while that lasts, and once when it is over", () => {
  const running = started([refused]);
  expect(running.states()).toEqual([
    {
      logicalId: "Refused",
      name: "stack-Refused",
      description: "The token was refused. Set a new one.",
      state: "OK",
      since: time,
    },
  ]);
  for (let run = 0; run < 8; run += 1) {
    running.onLine("/refresh", line);
    pass(15, running);
  }
  expect(told).toEqual(["Refused ALARM"]);
  pass(14, running);
  expect(running.states()).toMatchObject([{ state: "ALARM" }]);
  pass(1, running);
  expect(running.states()).toMatchObject([{ state: "OK" }]);
  expect(told).toEqual(["Refused ALARM", "Refused OK"]);
});

test("a line of another log group, or without the code, adds nothing", () => {
  const running = started([refused]);
  running.onLine("/other", line);
  running.onLine("/refresh", '{"code":"KEPT"}');
  pass(1, running);
  expect(told).toEqual([]);
});

test("values are summed up over a period, and compared with the threshold", () => {
  const running = started(
    [{ ...refused, threshold: 10, evaluationPeriods: 1 }],
    [{ ...refusedFilter, value: { field: "count" } }],
  );
  running.onLine("/refresh", '{"code":"REFUSED","count":6}');
  pass(1, running);
  expect(told).toEqual([]);
  running.onLine("/refresh", '{"code":"REFUSED","count":4}');
  pass(1, running);
  expect(told).toEqual(["Refused ALARM"]);
});

test("so many of the latest periods must breach as DatapointsToAlarm says", () => {
  const running = started([failing]);
  errors = 5;
  pass(15, running);
  expect(told).toEqual([]);
  pass(15, running);
  errors += 1;
  pass(1, running);
  expect(told).toEqual(["Failing ALARM"]);
});

test("a function's failed invocations are counted once", () => {
  const running = started([failing]);
  errors = 1;
  pass(60, running);
  expect(told).toEqual([]);
});

test("they are looked at once a minute", async () => {
  const delays: number[] = [];
  let looks = 0;
  const running = startAlarms({
    alarms: [refused],
    filters: [refusedFilter],
    errorsOf: () => 0,
    delay: async (milliseconds, signal) => {
      delays.push(milliseconds);
      looks += 1;
      if (looks > 3) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
    now: () => time,
    onChange: ({ state }) => told.push(state),
  });
  running.onLine("/refresh", line);
  await Promise.resolve();
  await running.close();
  expect(delays.every((each) => each === minute)).toBe(true);
  expect(told).toEqual(["ALARM"]);
});
