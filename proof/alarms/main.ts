/**
 * Lets the condition of each alarm happen on the local stack, and shows the values that raise it: `npm run proof --
 * alarms`. Exits 1 where an alarm is not raised, was on before its turn, or is raised by no scenario.
 */

import { dynamoDbEngines } from "@income-events/local-stack/engines/dynamodb.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { Command, Option } from "commander";
import { startAlarmStack } from "./alarm-stack.ts";
import { outcomeText } from "./report.ts";
import { alarmsWithoutScenario, runScenarios } from "./run.ts";
import { scenarios } from "./scenarios.ts";

const examples = `
What would take hours takes seconds (proof/alarms/settings.ts); all limits but the two settings follow
from these by themselves. About two minutes.

Examples:
  npm run proof -- alarms
  npm run proof -- alarms --quick                     without those that take a minute of silence or of failing
  npm run proof -- alarms --only provider-down events-late`;

type Options = {
  readonly quick?: boolean;
  readonly only?: readonly string[];
  readonly engine?: NonNullable<StartOptions["engine"]>;
};

const entries = scenarios.map(({ entry }) => entry);
const {
  quick = false,
  only,
  engine,
} = new Command("npm run proof -- alarms")
  .description("Makes each alarm's condition on the local stack and shows the metric values that raise it.")
  .option("--quick", "leave out those that take more than a minute")
  .addOption(new Option("--only <entries...>", "entries of the runbook").choices(entries))
  .addOption(new Option("--engine <name>", "of the table").choices(dynamoDbEngines))
  .addHelpText("after", examples)
  .parse()
  .opts<Options>();

const progress = (step: string) => void process.stderr.write(`${step}\n`);
const wanted = scenarios.filter(({ entry, isLong }) => only?.includes(entry) ?? !(quick && isLong));
await using system = await startAlarmStack(engine, progress);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await system[Symbol.asyncDispose]();
    process.exit(130);
  });
}
const { alarmPlans } = system.stack;
const without = alarmsWithoutScenario(alarmPlans, scenarios);
for (const entry of without) process.stdout.write(`NO SCENARIO ${entry}\n`);
const outcomes = await runScenarios(system, wanted, (outcome) =>
  process.stdout.write(`${outcomeText(outcome)}\n`),
);
const raised = outcomes.filter(({ state }) => state === "raised").length;
process.stdout.write(
  `alarms: ${alarmPlans.length} raised ${raised}/${wanted.length} untripped ${without.length}\n`,
);
process.exitCode = raised === wanted.length && without.length === 0 ? 0 : 1;
