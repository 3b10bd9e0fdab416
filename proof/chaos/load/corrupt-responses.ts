import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FunctionPlan } from "@income-events/local-stack/assembly/plan.ts";
import { chance } from "../chance.ts";
import type { ChaosSystem } from "../system.ts";

/**
 * How a batch's answer is corrupted: `malformed` is no list of failures, `unknown` names a message outside
 * the batch, `late` starts with a tenth of the function's time left. In each case the whole batch is retried.
 */
const corruptions = ["malformed", "unknown", "late"] as const;

const consumers = ["UsersStore", "AccountsStore", "EndpointsStore", "CompanyAccountsStore", "FetchData"];

/**
 * Corrupts every other answer of the functions that process queues, by the seed and the number of processes
 * that started before. The bundles stay as they are.
 */
export function corruptResponses({ functions, plans }: ChaosSystem, seed: number, directory: string) {
  const targets = consumers.flatMap((name) => {
    const plan = plans.get(name);
    const target = functions.get(name);
    return plan && target ? [{ name, plan, target }] : [];
  });
  for (const { name, plan, target } of targets) {
    const first = Math.floor(chance(seed, "corrupted", name) * corruptions.length);
    target.serve([plan, corrupted(plan, first, join(directory, "corrupted", name))]);
  }
  return {
    /** Number of corrupted batches of each type. */
    counts: () => {
      const lines = targets.flatMap(({ target }) => target.log());
      const count = (how: string) => lines.filter((line) => line === `corrupted: ${how}`).length;
      return new Map<string, number>(corruptions.map((how) => [how, count(how)]));
    },
    stop: () => {
      for (const { plan, target } of targets) target.serve([plan]);
    },
  };
}

/**
 * Wraps a function's handler. Each process starts one type further than the previous one, with a folder for
 * its turn: most crash before they reach a second type.
 */
function corrupted(plan: FunctionPlan, first: number, directory: string): FunctionPlan {
  const original = pathToFileURL(join(plan.directory, "index.mjs")).href;
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, "index.mjs"),
    `import { mkdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { handler as real } from ${JSON.stringify(original)};
const ways = ${JSON.stringify(corruptions)};
let turn = ${first};
for (;;) {
  try {
    mkdirSync(new URL("turn-" + turn, import.meta.url));
    break;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    turn += 1;
  }
}
export const handler = async (event, context) => {
  const how = ways[turn++ % ways.length];
  process.stdout.write("corrupted: " + how + "\\n");
  if (how === "late") await wait(context.getRemainingTimeInMillis() * 0.9);
  const answer = await real(event, context);
  if (how === "malformed") return { batchItemFailures: "all of them" };
  if (how === "unknown") return { batchItemFailures: [{ itemIdentifier: "unknown" }] };
  return answer;
};
`,
  );
  return { ...plan, directory, handler: "index.handler" };
}
