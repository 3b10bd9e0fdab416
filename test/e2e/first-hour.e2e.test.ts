import type { AlarmNotice } from "@income-events/local-stack/alarms/alarms.ts";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { type LocalStack, startStack } from "@income-events/local-stack/stack.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { requestOfQueues, requestsAtRest } from "../../proof/bench/price/idle.ts";
import { fastEngine } from "../support/engines.ts";
import { synthesizeProduct } from "../support/running-product.ts";
import { makeToken } from "../support/scripted-stack.ts";
import { startTestProvider } from "../support/test-provider.ts";

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
  const provider = cleanup.adopt(await startTestProvider(), ({ close }) => close());
  provider.answer = () => ({ json: { data: [], next: null } });
  stack = await startStack({
    assembly: product.directory,
    parameters: { ProviderBaseUrl: provider.url },
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
    await stack.refreshAlarms();
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

/**
 * Fires a rule, and counts the requests of its function. A rule and its function start with the same word.
 */
async function requestsOf(rule: string): Promise<Readonly<Record<string, number>>> {
  const [word = ""] = /^[A-Z][a-z]+/.exec(rule) ?? [];
  const names = stack.functions.filter(({ logicalId }) => logicalId.startsWith(word)).map(({ name }) => name);
  // The stream's poller reads as the relay's role.
  const isCounted = ([name = "", action = ""]: readonly string[]) =>
    names.includes(name) && !/Stream|Shard|GetRecords/.test(action);
  const counts = () =>
    new Map(
      [...stack.gateway.calls()]
        .map(([call, count]) => [call.split(" "), count] as const)
        .filter(([call]) => isCounted(call))
        .map(([[, action = ""], count]) => [action, count]),
    );
  const before = counts();
  await stack.schedules.fire(stack.schedules.names.find((name) => name.includes(rule)) ?? rule);
  const requests = [...counts()].map(
    ([action, count]) => [action, count - (before.get(action) ?? 0)] as const,
  );
  return Object.fromEntries(requests.filter(([, count]) => count > 0));
}

it("scheduled runs of a stage at rest request what the page of costs reckons with", async () => {
  await stack.setSecret(outputOf(stack, "TokenSecretArn"), JSON.stringify({ token: makeToken(86_400) }));
  // Processes know for a minute that there was no token.
  for (const each of stack.functions) each.kill();
  // Compares the provider's empty list; later runs rest.
  await requestsOf("ReconcileSchedule");
  const queues = [...stack.queues.values()].filter(({ logicalId }) => logicalId.includes("DeadLetters"));
  for (const [rule, expected] of Object.entries(requestsAtRest)) {
    const times = (action: string) => (action === requestOfQueues ? queues.length : 1);
    const entries = Object.entries(expected).map(([action, count]) => [action, count * times(action)]);
    if (entries.length > 0) expect(await requestsOf(rule), rule).toEqual(Object.fromEntries(entries));
  }
});
