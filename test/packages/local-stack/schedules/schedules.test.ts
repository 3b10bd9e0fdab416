import type { RulePlan } from "@income-events/local-stack/assembly/plan.ts";
import type { Decision } from "@income-events/local-stack/iam/evaluate.ts";
import { createAsynchronousInvoker } from "@income-events/local-stack/lambda/asynchronous.ts";
import { parseSchedule } from "@income-events/local-stack/schedules/next-time.ts";
import { type Schedules, startSchedules } from "@income-events/local-stack/schedules/schedules.ts";
import { afterEach, describe, expect, test } from "vitest";
import { type ScriptedFunction, scripted } from "../lambda/scripted-function.ts";

describe("a schedule expression", () => {
  test.each([
    ["rate(1 minute)", "2026-11-21T12:01:00.000Z"],
    ["rate(5 minutes)", "2026-11-21T12:05:00.000Z"],
    ["rate(2 hours)", "2026-11-21T14:00:00.000Z"],
    ["rate(30 days)", "2026-12-21T12:00:00.000Z"],
    ["cron(15 10 * * ? *)", "2026-11-22T10:15:00.000Z"],
    ["cron(0 8 ? * 2 *)", "2026-11-23T08:00:00.000Z"],
    ["cron(0 8 1 * ? *)", "2026-12-01T08:00:00.000Z"],
    ["cron(0 0 1 1 ? 2030)", "2030-01-01T00:00:00.000Z"],
  ])("%s comes next at %s", (expression, expected) => {
    expect(parseSchedule(expression)(new Date("2026-11-21T12:00:00Z")).toISOString()).toBe(expected);
  });

  test.each([
    "rate(0 minutes)",
    "rate(1 second)",
    "cron(* * * * *)",
    "cron(x 10 * * ? *)",
    "at(2026-11-21T12:00:00)",
  ])("%s is refused", (expression) => {
    expect(() => parseSchedule(expression)).toThrow(`the schedule ${expression} is not one`);
  });
});

const rule: RulePlan = {
  logicalId: "Rule",
  name: "daily",
  arn: "arn:aws:events:eu-central-1:000000000000:rule/daily",
  enabled: true,
  expression: "rate(30 days)",
  targets: [{ function: "Work" }],
};

let schedules: Schedules | undefined;
afterEach(async () => {
  await schedules?.close();
  schedules = undefined;
});

/** Rules with a clock that jumps to the end of each wait, until the given time. */
function started(rules: readonly RulePlan[], options: { until?: number; allowed?: boolean } = {}) {
  const target: ScriptedFunction = scripted([{ kind: "returned", payload: "null" }]);
  const questions: unknown[] = [];
  const stopped = Promise.withResolvers<void>();
  let time = 0;
  const delay = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
    if (time + milliseconds <= (options.until ?? 0)) {
      time += milliseconds;
      return;
    }
    stopped.resolve();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  };
  const running = startSchedules({
    rules,
    functions: new Map([["Work", target]]),
    gateway: {
      region: "eu-central-1",
      account: "000000000000",
      authorize: (...question): Decision => {
        questions.push(question);
        return { allowed: options.allowed ?? true, reason: "as told" };
      },
    },
    invoker: createAsynchronousInvoker(delay),
    delay,
    now: () => new Date(time),
  });
  schedules = running;
  return { schedules: running, target, questions, stopped: stopped.promise };
}

const day = 24 * 60 * 60_000;

describe("a rule", () => {
  test("fires first when its first period is over, then after each, also when that is longer than a timer", async () => {
    const { target, stopped } = started([rule], { until: 95 * day });
    await stopped;
    const times = target.events.map((event) => JSON.parse(event).time);
    expect(times).toEqual(["1970-01-31T00:00:00Z", "1970-03-02T00:00:00Z", "1970-04-01T00:00:00Z"]);
  });

  test("does not fire at the start, nor when it is disabled", async () => {
    const { target, stopped } = started([rule, { ...rule, name: "off", enabled: false }], {
      until: 29 * day,
    });
    await stopped;
    expect(target.events).toEqual([]);
  });

  test("can be fired by hand, by name or logical id, with EventBridge's event", async () => {
    const { schedules: running, target } = started([rule]);
    await running.fire("daily");
    await running.fire("Rule");
    expect(target.events).toHaveLength(2);
    expect(JSON.parse(target.events[0] ?? "")).toEqual({
      version: "0",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      "detail-type": "Scheduled Event",
      source: "aws.events",
      account: "000000000000",
      time: "1970-01-01T00:00:00Z",
      region: "eu-central-1",
      resources: [rule.arn],
      detail: {},
    });
  });

  test("sends the target's own input if the template has one", async () => {
    const { schedules: running, target } = started([
      { ...rule, targets: [{ function: "Work", input: '{"a":1}' }] },
    ]);
    await running.fire("daily");
    expect(target.events).toEqual(['{"a":1}']);
  });

  test("calls its function only with a permission for itself", async () => {
    const { schedules: running, target, questions } = started([rule], { allowed: false });
    await running.fire("daily");
    expect(target.events).toEqual([]);
    expect(questions).toEqual([
      [
        "events.amazonaws.com",
        "lambda:InvokeFunction",
        target.plan.arn,
        { "aws:SourceArn": rule.arn, "aws:SourceAccount": "000000000000" },
      ],
    ]);
  });

  test("that is unknown is refused, naming those there are", async () => {
    const { schedules: running } = started([rule]);
    await expect(running.fire("weekly")).rejects.toThrow("no rule weekly. Its rules: daily");
  });
});
