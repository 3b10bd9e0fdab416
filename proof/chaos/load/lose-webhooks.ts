import { setTimeout as wait } from "node:timers/promises";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { waitUntilIdle } from "@income-events/local-stack/wait-until-idle.ts";
import { expectationOf, findLosses } from "../../scenario/compare.ts";
import { readTable } from "../../scenario/snapshot.ts";
import type { RunOptions } from "../options.ts";
import type { Progress } from "../run-fault-phases.ts";
import { minuteInMillis } from "../synthesize.ts";
import type { ChaosSystem } from "../system.ts";

const awayMinutes = 10;
const recoveryMinutes = 15;
/** Time of functions and engines for the recovery, which no stage divides. */
const workMs = 60_000;
const betweenTicksMs = 500;
const patience = 900_000;

/**
 * Takes the receivers down for ten minutes, in which users and accounts are created and data changes, while
 * the provider makes a few attempts per webhook and gives up.
 * @returns the differences from the provider 15 minutes after the receivers are back, and a problem if the provider
 * gave up no webhook
 */
export async function loseWebhooks(
  system: ChaosSystem,
  { tries, slow }: RunOptions,
  progress: Progress,
): Promise<readonly string[]> {
  if (tries === undefined) return [];
  const { sandbox, stack, functions } = system;
  progress(`Taking the receivers away, while the provider tries each webhook ${tries} times`);
  const before = await sandbox.createUsers(3);
  await waitUntilIdle(system, patience);
  const givenUp = () => sandbox.deliveries({ status: "given-up" }).length;
  const givenUpBefore = givenUp();
  system.limitTries(tries);
  const bringBack = stack.gateway.intercept(async ({ principal, action }, phase) =>
    /Receive/.test(principal) && action === "sqs:SendMessage" && phase === "before"
      ? { status: 503, errorType: "ServiceUnavailable", message: "injected by chaos" }
      : undefined,
  );
  const [first = "", second = ""] = before.accounts;
  const lost = await sandbox.createUsers(3);
  // The stage's initial endpoint. Only the lost webhook would announce data that was never read.
  sandbox.fetchData(first, ["profile"]);
  await wait((awayMinutes * minuteInMillis) / 2);
  sandbox.fetchData(second, ["profile"]);
  await wait((awayMinutes * minuteInMillis) / 2);
  await sandbox.waitUntilIdle();
  // Without a lost webhook, the recovery proves nothing.
  const problems = givenUp() > givenUpBefore ? [] : ["no webhook was lost while the receivers were down"];
  bringBack();
  const back = performance.now();
  system.limitTries(undefined);
  const names = new Set([before, lost].flatMap(({ users, accounts }) => [...users, ...accounts]));
  const longest = recoveryMinutes * minuteInMillis + workMs * slow;
  for (;;) {
    const differing = await differences(system, names);
    const passed = performance.now() - back;
    if (differing.length === 0) {
      progress(`${(passed / 1_000).toFixed(0)} s later nothing differs from the provider`);
      await waitUntilIdle(system, patience);
      return problems;
    }
    if (passed > longest) {
      const after = `${(longest / 1_000).toFixed(0)} s after lost webhooks`;
      return [...problems, ...differing.map((words) => `${after}: ${words}`)];
    }
    // As the schedule does; the next run retries a failure.
    await functions.get("ReconcileUsers")?.invoke("{}");
    await wait(betweenTicksMs);
  }
}

async function differences(
  { stack, access, sandbox }: ChaosSystem,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  const bucket = outputOf(stack, "OverflowBucketName");
  const table = await readTable(access, outputOf(stack, "TableName"), bucket);
  const expected = expectationOf(sandbox, { isExpected: (id) => names.has(id) });
  return findLosses(expected, { table, messages: new Map(), deadLetters: [] }, []);
}
