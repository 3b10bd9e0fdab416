import { describe, expect, it } from "vitest";
import { logCodes } from "../../../functions/runtime/log.ts";
import { readAlarm } from "../../../scripts/documents/alarms-page.ts";
import { nameOf, productionSettings, type Synthesized, synthesized } from "../synthesized.ts";

const production = synthesized(productionSettings);
const resources = production.ofType("AWS::CloudWatch::Alarm");
const alarms = resources.map(({ id, Properties }) => readAlarm(id, Properties));
const alarmNamed = (name: string) => alarms.find(({ logicalId }) => nameOf(logicalId) === name);
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

describe("every alarm", () => {
  it.each(alarms.map((alarm) => [nameOf(alarm.logicalId), alarm] as const))(
    "describes its impact, names its runbook entry, and ends with a command: %s",
    (_, { description }) => {
      expect(description).toMatch(
        /^[A-Za-z].{40,}\. See docs\/operate\/runbook\.md#[a-z-]+\. [A-Z].+: (npx|aws) .+$/,
      );
      // CloudWatch's limit.
      expect(description.length).toBeLessThan(1_024);
    },
  );

  it.each([
    [{}],
    [
      {
        token: { refreshEveryMinutes: 10 },
        alarms: { ...productionSettings.alarms, nothingReceivedHours: 168 },
      },
    ],
    [
      {
        token: { refreshEveryMinutes: 1_440 },
        reconcile: { everyHours: 168 },
        archive: { everyMinutes: 1_440 },
      },
    ],
  ])("has periods and counts that CloudWatch takes, with %j", (settings) => {
    const stack = synthesized({ ...productionSettings, ...settings });
    for (const { id, Properties } of stack.ofType("AWS::CloudWatch::Alarm")) {
      const { periodSeconds, evaluationPeriods, datapointsToAlarm, metrics } = readAlarm(id, Properties);
      expect(periodSeconds % minute, id).toBe(0);
      expect(periodSeconds * evaluationPeriods, id).toBeLessThanOrEqual(periodSeconds < hour ? day : 7 * day);
      expect(datapointsToAlarm).toBeLessThanOrEqual(evaluationPeriods);
      expect(metrics.length, id).toBeLessThanOrEqual(10);
    }
  });

  it("on a log counts a code of the catalogue, or requests that API Gateway throttled or had no route for", () => {
    const filters = production
      .ofType("AWS::Logs::MetricFilter")
      .map(({ Properties }) => Properties.FilterPattern);
    const codes = filters.flatMap((pattern) => {
      const named = [...String(pattern).matchAll(/\$\.code = "([A-Z_]+)"/g)];
      return named.length === 0 ? pattern : named.map(([, code]) => code);
    });
    expect(codes.filter((code) => !Object.keys(logCodes).includes(String(code)))).toEqual([
      '{ $.status = "429" }',
      '{ $.status = "404" }',
      '{ $.function = "refresh/token" }',
    ]);
  });
});

describe("an alarm on failures", () => {
  it.each([
    ["reads-failing", "Url5xxCount"],
    ["fetching-failing", "Errors"],
    ["archiving-failing", "Errors"],
    ["relay-failing", "FailedInvokeEventCount"],
  ])("watches the metric that shows them: %s", (entry, metric) => {
    expect(alarms.find((alarm) => alarm.entry === entry)?.metrics).toEqual([metric]);
  });

  it("of an event source has values: the source reports event counts", () => {
    const watching = resources
      .map((alarm) => JSON.stringify(alarm))
      .filter((text) => text.includes("FailedInvokeEventCount"));
    const watched = production
      .ofType("AWS::Lambda::EventSourceMapping")
      .filter(({ id }) => watching.some((text) => text.includes(`"Ref":"${id}"`)));
    // Four kinds of webhooks, the relay and erasures.
    expect(watched).toHaveLength(6);
    for (const { id, Properties } of watched)
      expect(Properties.MetricsConfig, id).toEqual({ Metrics: ["EventCount"] });
  });

  it("on a relay that stands still compares what is stored with what the stream passes on", () => {
    const [alarm] = resources.filter(({ id }) => nameOf(id) === "RelayAlarmsStoppedAlarm");
    const { id: source } = production.withId("RelaySource");
    expect(alarm?.Properties).toMatchObject({
      Metrics: [
        { Expression: "m0 > m0 * m1" },
        { Id: "m0", MetricStat: { Metric: { MetricName: "EventsStored" }, Period: 300, Stat: "Sum" } },
        {
          Id: "m1",
          MetricStat: {
            Metric: {
              Dimensions: [{ Name: "EventSourceMappingUUID", Value: { Ref: source } }],
              MetricName: "InvokedEventCount",
            },
            Stat: "Sum",
          },
        },
      ],
      ...{ Threshold: 1, ComparisonOperator: "GreaterThanOrEqualToThreshold" },
      TreatMissingData: "notBreaching",
    });
  });

  it("counts changes that the relay parks, and those of a subscriber that can't be reached, as undelivered", () => {
    expect(alarmNamed("RelayAlarmsGaveUpAlarm")?.metrics).toContain("RecordParked");
    expect(production.withId("RelayChangesRecordParkedMetric").Properties.FilterPattern).toBe(
      '{ ($.code = "RECORD_PARKED") || ($.code = "SUBSCRIBER_UNREACHABLE") }',
    );
  });
});

/** Alarms on ages: the limit, how long the work takes by itself, how long it is kept. */
const ages: readonly (readonly [name: string, tries: number, kept: number])[] = [
  ["ReceivingLateAlarm", 5 * 6 * 20, 14 * day],
  ["ErasureAlarmsLateAlarm", 900 + 5 * 6 * 300, 14 * day],
];

describe("an alarm on what waits", () => {
  it.each(ages)("goes off when all tries are over, and long before the end: %s", (name, tries, kept) => {
    const { threshold = 0 } = alarmNamed(name) ?? {};
    expect(threshold).toBe(tries);
    expect(threshold).toBeLessThanOrEqual(kept / 4);
  });

  it("of calls goes off after a quarter of the longest outage, for waits of a call are no failures", () => {
    expect(alarmNamed("FetchBacklogLateAlarm")?.threshold).toBe(18 * hour);
    const stack = synthesized({ ...productionSettings, fetch: { longestOutageHours: 24 } });
    const found = stack.ofType("AWS::CloudWatch::Alarm").find(({ id }) => id.startsWith("FetchBacklogLate"));
    expect(found?.Properties.Threshold).toBe(6 * hour);
  });

  it.each([
    [{}, [hour, hour]],
    [{ subscriberBehindMinutes: 720 }, [12 * hour, 6 * hour]],
    [{ subscriberBehindMinutes: 10_080 }, [3.5 * day, 6 * hour]],
  ])(
    "of a subscriber fires according to the settings %j, or after a quarter of its retention",
    (set, expected) => {
      const stack = synthesized({
        ...productionSettings,
        alarms: { ...productionSettings.alarms, ...set },
        subscribers: [{ name: "slow" }, { name: "quick", retentionDays: 1 }],
      });
      const limits = stack
        .ofType("AWS::CloudWatch::Alarm")
        .filter(({ id }) => /^Subscriber.*Behind/.test(id))
        .map(({ id, Properties }) => readAlarm(id, Properties).threshold);
      expect(limits).toEqual(expected);
    },
  );

  it("is never later than a quarter of the time that is kept, in a stage whose days are minutes", () => {
    const stack = synthesized({ production: false, divideDurationsBy: 5_000, subscribers: [{ name: "x" }] });
    const queues = new Map(
      stack.ofType("AWS::SQS::Queue").map(({ id, Properties }) => [nameOf(id), Properties]),
    );
    for (const [name, queue] of [
      ["FetchBacklogLateAlarm", "FetchWorkQueue"],
      ["SubscriberXAlarmsBehindAlarm", "SubscriberXQueue"],
      ["ErasureAlarmsLateAlarm", "ErasureWorkQueue"],
    ] as const) {
      const found = stack.ofType("AWS::CloudWatch::Alarm").find(({ id }) => nameOf(id) === name);
      const kept = Number(queues.get(queue)?.MessageRetentionPeriod);
      expect(Number(found?.Properties.Threshold), name).toBeLessThanOrEqual(kept / 4);
    }
  });

  it("for the relay fires at a delay of one hour, long before the twenty after which changes are discarded", () => {
    expect(alarmNamed("RelayAlarmsBehindAlarm")?.threshold).toBe(hour * 1_000);
    expect(production.withId("RelaySource").Properties).toMatchObject({
      MaximumRecordAgeInSeconds: 20 * hour,
    });
  });

  it("that the provider is down stays on as long as probes fail: its period holds two", () => {
    for (const maxSeconds of [20, 300, 3_600]) {
      const provider = { ...productionSettings.provider, breaker: { maxSeconds } };
      const [alarm] = synthesized({ ...productionSettings, provider })
        .ofType("AWS::CloudWatch::Alarm")
        .filter(({ id }) => id.startsWith("FetchAlarmsDown"));
      expect(alarm?.Properties).toMatchObject({
        Threshold: 2,
        EvaluationPeriods: 1,
        Period: 3 * maxSeconds,
      });
    }
  });

  it("for the provider's rate goes off when an hour's calls wait", () => {
    expect(alarmNamed("FetchBacklogLongAlarm")?.threshold).toBe(60_000);
  });
});

describe("the alarm that nothing is received", () => {
  const silent = (alarms: object, token: object = {}) =>
    synthesized({ ...productionSettings, token, alarms: { ...productionSettings.alarms, ...alarms } });
  const nothingIn = (stack: Synthesized) =>
    stack.ofType("AWS::CloudWatch::Alarm").find(({ id }) => id.startsWith("ReceivingNothing"))?.Properties;
  const nothing = (hours: number) => nothingIn(silent({ nothingReceivedHours: hours }));
  const daily = silent({ nothingReceivedHours: 24 });

  it("exists if the settings limit how long that may last; otherwise neither it nor the metric does", () => {
    expect(nothingIn(production)).toBeUndefined();
    expect(production.text).not.toContain("WebhookAccepted");
  });

  it("counts within the hours of the week that the settings name", () => {
    const found = nothingIn(silent({ nothingReceivedHours: 4, receivingSchedule: "mon-fri 07-19" }));
    expect(found).toMatchObject({ Threshold: 0, EvaluationPeriods: 4, DatapointsToAlarm: 4 });
    expect(found?.Metrics).toMatchObject([
      { Expression: "IF(DAY(m0) >= 1 AND DAY(m0) <= 5 AND HOUR(m0) >= 7 AND HOUR(m0) < 19, m0, 1)" },
      { MetricStat: { Metric: { MetricName: "WebhookAccepted" }, Period: hour } },
    ]);
  });

  it.each([1, 24, 168])("evaluates %i hours, hour by hour, and treats missing values as healthy", (hours) => {
    expect(nothing(hours)).toMatchObject({
      ComparisonOperator: "LessThanOrEqualToThreshold",
      MetricName: "WebhookAccepted",
      Statistic: "Sum",
      Period: hour,
      Threshold: 0,
      EvaluationPeriods: hours,
      DatapointsToAlarm: hours,
      TreatMissingData: "notBreaching",
    });
  });

  it("does not go off before the stage has stood as long: only its refresher's runs make an hour of none", () => {
    const zeros = daily
      .ofType("AWS::Logs::MetricFilter")
      .map(({ Properties }) => JSON.stringify(Properties))
      .filter(
        (text) => text.includes('"MetricName":"WebhookAccepted"') && text.includes('"MetricValue":"0"'),
      );
    expect(zeros).toHaveLength(1);
    expect(zeros[0]).toContain('{ $.function = \\"refresh/token\\" }');
    expect(zeros[0]).toContain("RefreshTokenLogs");
    const [rule] = daily.ofType("AWS::Events::Rule").filter(({ id }) => id.startsWith("RefreshSchedule"));
    expect(rule?.Properties.ScheduleExpression).toBe("rate(15 minutes)");
  });

  it("has periods in which the refresher runs, if it runs less often than hourly", () => {
    const stack = silent({ nothingReceivedHours: 24 }, { refreshEveryMinutes: 300 });
    expect(nothingIn(stack)).toMatchObject({ Period: 5 * hour, EvaluationPeriods: 4 });
  });

  it("counts what all receivers accept, as one metric", () => {
    const filters = daily
      .ofType("AWS::Logs::MetricFilter")
      .filter(({ Properties }) => /"WebhookAccepted".*"MetricValue":"1"/.test(JSON.stringify(Properties)));
    expect(filters.map(({ id }) => nameOf(id)).sort()).toEqual(
      ["Accounts", "CompanyAccounts", "Endpoints", "OtherPaths", "Users"].map(
        (kind) => `${kind}ReceiveWebhookAcceptedMetric`,
      ),
    );
  });
});

it("dead letters of every queue raise an alarm", () => {
  const watched = resources
    .filter(({ Properties }) => JSON.stringify(Properties).includes("ApproximateNumberOfMessagesVisible"))
    .map(({ Properties }) => JSON.stringify(Properties));
  const deadLetters = production.ofType("AWS::SQS::Queue").filter(({ id }) => id.includes("DeadLetters"));
  expect(deadLetters).toHaveLength(9);
  for (const { id } of deadLetters) {
    expect(
      watched.filter((text) => text.includes(id)),
      id,
    ).toHaveLength(1);
  }
});
