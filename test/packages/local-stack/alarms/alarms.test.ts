import { type Alarms, startAlarms } from "@income-events/local-stack/alarms/alarms.ts";
import { createMetric, valuesOf } from "@income-events/local-stack/alarms/evaluate.ts";
import type {
  AlarmPlan,
  CompositeAlarmPlan,
  MetricFilterPlan,
} from "@income-events/local-stack/assembly/plan.ts";
import { parseFilterPattern } from "@income-events/local-stack/gateway/logs/filter-pattern.ts";
import { afterEach, beforeEach, expect, test } from "vitest";

const minute = 60_000;
const always = { from: 0, to: Number.MAX_SAFE_INTEGER, period: 1e9 };
const refusedFilter: MetricFilterPlan = {
  logicalId: "Filter",
  logGroupName: "/refresh",
  matches: parseFilterPattern('{ $.code = "REFUSED" }'),
  metric: { namespace: "stack", name: "Refused" },
  value: 1,
};
const refused: AlarmPlan = {
  logicalId: "Refused",
  name: "stack-Refused",
  description: "The token was refused. Set a new one.",
  metrics: [{ ...refusedFilter.metric, dimensions: {}, statistic: "Sum" }],
  taken: "alone",
  periodSeconds: 900,
  breaches: "above",
  missing: "notBreaching",
  threshold: 1,
  evaluationPeriods: 2,
  datapointsToAlarm: 1,
  actions: ["arn:aws:sns:eu-central-1:000000000000:on-call"],
  okActions: [],
};
const line = '{"code":"REFUSED"}';

let time: number;
let reported: string[];
let notices: string[];
let gauges: Map<string, number>;
let alarms: Alarms | undefined;

beforeEach(() => {
  time = Date.parse("2026-11-21T12:00:00Z");
  reported = [];
  notices = [];
  gauges = new Map();
});
afterEach(() => alarms?.close());

/** Alarms whose clock and evaluation the test controls. */
function started(
  plans: readonly AlarmPlan[],
  filters: readonly MetricFilterPlan[] = [refusedFilter],
  compositeAlarms: readonly CompositeAlarmPlan[] = [],
) {
  const running = startAlarms({
    alarms: plans,
    compositeAlarms,
    filters,
    totalOf: () => undefined,
    gaugeOf: async ({ name }) => gauges.get(name),
    delay: (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    now: () => time,
    onChange: ({ logicalId, state }) => reported.push(`${logicalId} ${state}`),
    onNotice: ({ alarm, state, topic }) => notices.push(`${alarm} ${state} to ${topic}`),
  });
  alarms = running;
  return running;
}

/** Evaluates each minute, as CloudWatch does. */
function pass(minutes: number, running: Alarms): void {
  for (let passed = 0; passed < minutes; passed += 1) {
    time += minute;
    running.states();
  }
}

test("an alarm fires if its metric breaches, notifies once while that lasts, and once at its end", () => {
  const running = started([refused]);
  expect(running.states()).toEqual([
    {
      logicalId: "Refused",
      name: "stack-Refused",
      description: "The token was refused. Set a new one.",
      actions: refused.actions,
      taken: refused.taken,
      periodSeconds: refused.periodSeconds,
      evaluationPeriods: refused.evaluationPeriods,
      state: "OK",
      since: time,
    },
  ]);
  for (let run = 0; run < 8; run += 1) {
    running.onLine("/refresh", line);
    pass(15, running);
  }
  expect(reported).toEqual(["Refused ALARM"]);
  pass(14, running);
  expect(running.states()).toMatchObject([{ state: "ALARM" }]);
  pass(1, running);
  expect(running.states()).toMatchObject([{ state: "OK" }]);
  expect(reported).toEqual(["Refused ALARM", "Refused OK"]);
});

test("requests to an API and lines of a filter are summed up, whether an alarm watches them or not", () => {
  const running = started([], [refusedFilter]);
  const failed = { namespace: "AWS/ApiGateway", name: "5xx", dimensions: { ApiId: "api" } };
  running.record(failed, 1);
  running.record(failed, 1);
  running.onLine("/refresh", '{"code":"REFUSED"}');
  const sumOf = (metric: typeof failed | { namespace: string; name: string; dimensions: object }) => [
    ...running.sums({ ...metric, dimensions: { ...metric.dimensions } }, always).values(),
  ];
  expect(sumOf(failed)).toEqual([2]);
  expect(sumOf({ ...refusedFilter.metric, dimensions: {} })).toEqual([1]);
});

const embedded = (changes: object = {}, metadata: object = {}) => ({
  code: "RELAYED",
  _aws: {
    Timestamp: 1,
    CloudWatchMetrics: [{ Namespace: "stack", Dimensions: [[]], Metrics: [{ Name: "Took" }], ...metadata }],
  },
  Took: [30, 10, 20],
  ...changes,
});

test.each([
  ["an array of values", embedded(), [20, 30]],
  ["one value", embedded({ Took: 40 }), [40, 40]],
  ["100 values", embedded({ Took: Array.from({ length: 100 }, (_, index) => index) }), [49, 98]],
  ["101 values", embedded({ Took: Array.from({ length: 101 }, (_, index) => index) }), []],
  ["a text", embedded({ Took: "30" }), []],
  ["no such field", embedded({ Took: undefined }), []],
  ["no set of dimensions", embedded({}, { Dimensions: [] }), []],
  ["a dimension without a text", embedded({ Kind: 1 }, { Dimensions: [["Kind"]] }), []],
])("a line in embedded metric format is measured by its percentiles: %s", (_, given, expected) => {
  const running = started([]);
  running.onLine("/relay", JSON.stringify(given));
  const metric = { namespace: "stack", name: "Took", dimensions: {} };
  expect([50, 99].flatMap((percent) => [...running.percentiles(metric, percent, always).values()])).toEqual(
    expected,
  );
});

const queued = (name: string): AlarmPlan["metrics"][number] => ({
  namespace: "AWS/SQS",
  name,
  dimensions: { QueueName: "work" },
  statistic: "Maximum",
});
const age = "ApproximateAgeOfOldestMessage";
const depth = "ApproximateNumberOfMessagesVisible";

test("a queue is measured when it is polled, and the maximum of a period counts", async () => {
  const plan = { ...refused, metrics: [queued(age)], threshold: 30, evaluationPeriods: 1 };
  const running = started([plan], []);
  gauges.set(age, 40);
  expect(await running.refresh()).toMatchObject([{ state: "ALARM" }]);
  gauges.set(age, 2);
  time += minute;
  await running.refresh();
  expect(running.values("Refused")).toEqual([40]);
  time += 15 * minute;
  expect(await running.refresh()).toMatchObject([{ state: "OK" }]);
});

test("metrics together make one value, in which what was not measured is 0", async () => {
  const together = { ...refused, metrics: [queued(age), queued(depth)], threshold: 5, evaluationPeriods: 1 };
  const running = started(
    [
      { ...together, logicalId: "Sum", taken: "as sum" },
      { ...together, logicalId: "Greatest", taken: "as greatest" },
      { ...together, logicalId: "Without", taken: "first without second", threshold: 1 },
    ],
    [],
  );
  const values = () => ["Sum", "Greatest", "Without"].flatMap((each) => running.values(each));
  expect(values()).toEqual([0, 0, 0]);
  gauges.set(age, 3);
  await running.refresh();
  expect(values()).toEqual([3, 3, 1]);
  gauges.set(depth, 4);
  expect((await running.refresh()).map(({ state }) => state)).toEqual(["ALARM", "OK", "OK"]);
  expect(values()).toEqual([7, 4, 0]);
});

test("a lack goes off when nothing came in all of its periods, none of them before the start", () => {
  const lack: AlarmPlan = {
    ...refused,
    taken: "as sum",
    breaches: "below",
    missing: "breaching",
    threshold: 0,
    evaluationPeriods: 2,
    datapointsToAlarm: 2,
  };
  const running = started([lack]);
  pass(29, running);
  expect(reported).toEqual([]);
  running.onLine("/refresh", line);
  pass(30, running);
  expect(reported).toEqual(["Refused ALARM"]);
  running.onLine("/refresh", line);
  pass(1, running);
  expect(reported).toEqual(["Refused ALARM", "Refused OK"]);
});

test("outside of the hours of the week that an alarm names its value is 1", () => {
  const during = { firstDay: 1, lastDay: 5, from: 7, to: 19 };
  const lack: AlarmPlan = { ...refused, breaches: "below", threshold: 0, periodSeconds: 3_600, during };
  const plan = { ...lack, evaluationPeriods: 1, datapointsToAlarm: 1 };
  const metric = createMetric(minute);
  const valueAt = (end: string) => {
    const now = Date.parse(end);
    return valuesOf(plan, () => metric, { begin: now - 3 * 60 * minute, now })[0]?.value;
  };
  // Fridays, a Saturday and a Sunday: each period starts an hour earlier.
  for (const end of [
    "2026-11-27T07:59:00Z",
    "2026-11-27T20:00:00Z",
    "2026-11-28T12:00:00Z",
    "2026-11-29T12:00:00Z",
  ])
    expect(valueAt(end), end).toBe(1);
  for (const end of ["2026-11-27T08:00:00Z", "2026-11-27T19:59:00Z"])
    expect(valueAt(end), end).toBeUndefined();
});

const counting: MetricFilterPlan = { ...refusedFilter, value: { field: "count" } };
const counted: AlarmPlan = {
  ...refused,
  name: "counted",
  periodSeconds: 60,
  evaluationPeriods: 1,
  actions: ["on-call"],
};
const waiting: AlarmPlan = {
  ...counted,
  logicalId: "Waiting",
  name: "waiting",
  missing: "ignore",
  evaluationPeriods: 3,
  datapointsToAlarm: 3,
};

/** Passes minutes, each with a count or none; returns the first alarm's state after each. */
function passWith(running: Alarms, ...counts: readonly (number | undefined)[]) {
  return counts.map((count) => {
    time += minute;
    if (count !== undefined) running.onLine("/refresh", JSON.stringify({ code: "REFUSED", count }));
    return running.states()[0]?.state;
  });
}

test("an alarm fires when DatapointsToAlarm of the latest periods breach", () => {
  const running = started([{ ...counted, evaluationPeriods: 3, datapointsToAlarm: 2 }], [counting]);
  expect(passWith(running, 1, 0, 0, 1, 0, 1)).toEqual([...Array(5).fill("OK"), "ALARM"]);
});

test("a new alarm becomes OK at its first evaluation, and notifies its OK actions", () => {
  const running = started([{ ...counted, okActions: ["on-call"] }], [counting]);
  passWith(running, undefined, undefined, 1, undefined);
  expect(notices).toEqual(["counted OK to on-call", "counted ALARM to on-call", "counted OK to on-call"]);
});

test("an alarm that ignores what is missing stays as it is until values decide", () => {
  const running = started([waiting], [counting]);
  expect(passWith(running, undefined, 1, 1)).toEqual(Array(3).fill("INSUFFICIENT_DATA"));
  expect(passWith(running, 1, undefined, undefined, undefined)).toEqual(Array(4).fill("ALARM"));
  expect(passWith(running, 1, 0, undefined, 1, undefined)).toEqual(["ALARM", "OK", "OK", "OK", "OK"]);
});

test("a composite alarm notifies once all of its alarms are over, and those that wait have had data", () => {
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
  const running = started([counted, waiting], [counting], [composite]);
  passWith(running, undefined);
  expect(notices).toEqual([]);
  passWith(running, 0);
  expect(notices.splice(0)).toEqual(["any OK to on-call"]);
  passWith(running, 1, 1, 0, 0);
  expect(notices).toEqual(["counted ALARM to on-call", "any OK to on-call"]);
});
