import { setTimeout as wait } from "node:timers/promises";
import { outputOf } from "@income-events/local-stack/outputs.ts";
import { expectationOf, findLosses } from "../../scenario/compare.ts";
import { readContents, readTable } from "../../scenario/snapshot.ts";
import { limitedTo } from "../audit/gather-evidence.ts";
import type { FaultOptions, Progress } from "../run-fault-phases.ts";
import { minuteInMillis } from "../synthesize.ts";
import type { ChaosSystem } from "../system.ts";
import { waitUntilIdle } from "./recover.ts";

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
  { tries, slow }: FaultOptions,
  progress: Progress,
): Promise<readonly string[]> {
  if (tries === undefined) return [];
  const { provider, stack, functions } = system;
  progress(`Taking the receivers away, while the provider tries each webhook ${tries} times`);
  const before = await provider.call("createUsers", 3, {});
  await waitUntilIdle(system, patience);
  const givenUpBefore = await provider.call("givenUp");
  await provider.call("limitTries", tries);
  const bringBack = stack.gateway.intercept(async ({ principal, action }, phase) =>
    /Receive/.test(principal) && action === "sqs:SendMessage" && phase === "before"
      ? { status: 503, errorType: "ServiceUnavailable", message: "injected by chaos" }
      : undefined,
  );
  const [first = "", second = ""] = before.accounts;
  const lost = await provider.call("createUsers", 3, {});
  // The stage's initial endpoint. Only the lost webhook would announce data that was never read.
  await provider.call("fetchData", first, ["profile"]);
  await wait((awayMinutes * minuteInMillis) / 2);
  await provider.call("fetchData", second, ["profile"]);
  await wait((awayMinutes * minuteInMillis) / 2);
  while ((await provider.call("pending")) > 0) await wait(100);
  const givenUp = (await provider.call("givenUp")) - givenUpBefore;
  // Without a lost webhook, the recovery proves nothing.
  const problems = givenUp > 0 ? [] : ["no webhook was lost while the receivers were down"];
  bringBack();
  const back = performance.now();
  await provider.call("limitTries", null);
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
  { stack, access, provider }: ChaosSystem,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  const table = await readTable(access, outputOf(stack, "TableName"));
  const contents = await readContents(access, outputOf(stack, "OverflowBucketName"), table);
  const truth = limitedTo(await provider.call("truth"), names);
  const expected = expectationOf(truth, { accepted: () => new Set() }, new Set());
  return findLosses(expected, { table, contents, messages: new Map(), deadLetters: [] }, []);
}
