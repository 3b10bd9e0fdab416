import type { AlarmNotice } from "@income-events/local-stack/alarms/alarms.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fastEngine } from "../support/engines.ts";
import { synthesizeProduct } from "../support/running-product.ts";

const topicArn = "arn:aws:sns:eu-central-1:000000000000:on-call";
const minute = 60_000;
/** Minutes between two runs of each schedule that runs within the hour. */
const runsEvery = new Map([
  [/^RefreshSchedule/, 15],
  [/^ArchiveSchedule/, 60],
]);

const cleanup = new AsyncDisposableStack();
const notices: AlarmNotice[] = [];
let time = Date.parse("2026-11-24T12:00:00Z");
let stack: LocalStack;

beforeAll(async () => {
  const alarms = { topicArn };
  const product = cleanup.use(await synthesizeProduct("local", { alarms }));
  stack = await startStack({
    assembly: product.directory,
    parameters: { ProviderBaseUrl: "http://127.0.0.1:9" },
    engine: await fastEngine(),
    alarmClock: () => time,
    onNotice: (notice) => void notices.push(notice),
  });
  cleanup.adopt(stack, ({ close }) => close());
});
afterAll(() => cleanup.disposeAsync());

async function passHour(): Promise<void> {
  for (let passed = 0; passed < 60; passed += 1) {
    for (const name of stack.schedules.names) {
      const every = [...runsEvery].find(([rule]) => rule.test(name.replace(`${stack.name}-`, "")))?.[1];
      // A schedule may first fire as soon as it exists; daily schedules do here.
      if (passed % (every ?? Number.POSITIVE_INFINITY) === 0) await stack.schedules.fire(name);
    }
    time += minute;
    await stack.lookAtAlarms();
  }
}

it("a new stage raises one alarm in an hour in which nobody does anything: to set the token", async () => {
  await passHour();
  expect(notices.filter(({ state }) => state === "ALARM")).toEqual([
    {
      alarm: expect.stringContaining("RefreshAlarmsMissing"),
      description: expect.stringMatching(/Set the token: npx income-events token set < token\.txt$/),
      state: "ALARM",
      topic: topicArn,
    },
  ]);
  // As in AWS, every other alarm reports OK once, with its first values.
  const over = notices.filter(({ state }) => state === "OK").map(({ alarm }) => alarm);
  const others = stack
    .alarms()
    .map(({ name }) => name)
    .filter((name) => !name.includes("RefreshAlarmsMissing"));
  expect(over.toSorted()).toEqual(others.toSorted());
});
