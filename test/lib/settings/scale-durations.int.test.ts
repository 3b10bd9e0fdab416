import { describe, expect, it } from "vitest";
import { settingsIn } from "../../../lib/settings/scale-durations.ts";
import { timeKindOf } from "../../../lib/settings/setting-types.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { settingsSchema } from "../../../lib/settings/settings-schema.ts";
import { synthesized } from "../synthesized.ts";

const settings = { production: false, subscribers: [{ name: "everything" }, { name: "risk" }] };
const parsed = (divideDurationsBy: number, more: object = {}) =>
  parseSettings({ ...settings, ...more, divideDurationsBy }, "f.json");

describe("divideDurationsBy", () => {
  const allSettings = settingsIn(settingsSchema);
  // AWS Backup counts in hours and days, and documents cover days; CloudWatch Logs offers a list of periods.
  const neitherKind = ["recovery.everyHours", "recovery.keepDays", "readiness.minDays", "retention.logsDays"];

  it("knows each setting that is named for a unit of time as waiting or working time", () => {
    const times = allSettings.filter(({ path }) => /(Seconds|Minutes|Hours|Days)$/.test(path.at(-1) ?? ""));
    const unknown = times.filter(({ type }) => timeKindOf(type) === undefined);
    expect(times.length).toBeGreaterThan(12);
    expect(unknown.map(({ path }) => path.join("."))).toEqual(neitherKind);
  });

  it("knows no other setting as a time", () => {
    const named = allSettings.filter(({ type }) => timeKindOf(type) !== undefined);
    expect(named.filter(({ path }) => !/(Seconds|Minutes|Hours|Days)$/.test(path.at(-1) ?? ""))).toEqual([]);
  });

  it("divides every waiting time, in lists and under defaults too, and nothing else", () => {
    const whole = flatten(parsed(1));
    const divided = flatten(parsed(8));
    const waits = new Set(
      allSettings.filter(({ type }) => timeKindOf(type) === "waiting").map(({ path }) => path.join(".")),
    );
    const expected = whole.map(([name, value]) => {
      if (name === "divideDurationsBy") return [name, 8];
      return [name, waits.has(name.replace(/\.\d+\./, ".*.")) ? Number(value) / 8 : value];
    });
    expect(divided).toEqual(expected);
    expect(Object.fromEntries(divided)).toMatchObject({
      "fetch.retry.baseSeconds": 0.25,
      "subscribers.1.retentionDays": 1.75,
      "functions.fetch.timeoutSeconds": 60,
      "provider.timeouts.headersSeconds": 20,
      "provider.requestsPerMinute": 1000,
    });
  });

  it("checks the times as they are written, not as they are scaled", () => {
    expect(() => parsed(1000, { fetch: { retry: { baseSeconds: 1, maxSeconds: 1 } } })).not.toThrow();
    expect(() => parsed(1000, { fetch: { retry: { baseSeconds: 0.5 } } })).toThrow("fetch.retry.baseSeconds");
  });

  it("is refused in a production stage", () => {
    const production = {
      production: true,
      alarms: { emails: ["on-call@example.com"] },
      provider: { baseUrls: { sandbox: "https://api.income-provider.com" } },
    };
    expect(() => parseSettings({ ...production, divideDurationsBy: 2 }, "f.json")).toThrow(
      "divideDurationsBy: shortens every wait, which is not allowed in a production stage; set it to 1",
    );
    expect(() => parseSettings({ ...production, divideDurationsBy: 1 }, "f.json")).not.toThrow();
  });
});

describe("a stack whose times are divided", () => {
  const times = (divideDurationsBy: number) => {
    const stack = synthesized({ ...settings, divideDurationsBy });
    const properties = (type: string) => stack.ofType(type).map(({ Properties }) => Properties);
    return {
      schedules: properties("AWS::Events::Rule").map(({ ScheduleExpression }) => ScheduleExpression),
      retention: new Set(properties("AWS::SQS::Queue").map((queue) => queue.MessageRetentionPeriod)),
      visibility: new Set(properties("AWS::SQS::Queue").map((queue) => queue.VisibilityTimeout)),
      timeouts: properties("AWS::Lambda::Function").map(({ Timeout }) => Timeout),
      recordAge: properties("AWS::Lambda::EventSourceMapping").flatMap((source) =>
        source.MaximumRecordAgeInSeconds === undefined ? [] : [source.MaximumRecordAgeInSeconds],
      ),
      text: stack.text,
    };
  };

  it("runs its schedules sooner, each in whole minutes and at least one apart", () => {
    expect(times(1).schedules).toEqual(expect.arrayContaining(["rate(15 minutes)", "rate(1 day)"]));
    expect(times(288).schedules).toEqual(expect.arrayContaining(["rate(1 minute)", "rate(5 minutes)"]));
  });

  it("keeps messages and retries records for a shorter time, in whole seconds and at least a minute", () => {
    expect(times(1)).toMatchObject({ retention: new Set([1_209_600]), recordAge: [72_000] });
    expect(times(288)).toMatchObject({ retention: new Set([4_200]), recordAge: [250] });
    expect(times(999)).toMatchObject({ retention: new Set([1_211]), recordAge: [73] });
    expect(times(3600)).toMatchObject({ retention: new Set([336]), recordAge: [60] });
  });

  it("lets objects expire after whole days", () => {
    expect(times(288).text).toContain('"ExpirationInDays":29');
    expect(times(288).text).toContain('"ExpirationInDays":1,');
  });
});

/** Leaf values with their paths. */
function flatten(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, part]) =>
    flatten(part, path === "" ? name : `${path}.${name}`),
  );
}
