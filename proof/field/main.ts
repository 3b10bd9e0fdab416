/**
 * Runs inputs from public bug reports on a local stack: `npm run proof -- field`. Exits 1 if one is handled
 * wrongly. The inputs are files in test/fixtures/field.
 */
import { Command } from "commander";
import { runField } from "./run.ts";

new Command("npm run proof -- field")
  .description("Runs webhooks and API answers from public bug reports on a local stack.")
  .parse();

const results = await runField();
for (const { name, problems } of results)
  process.stdout.write(
    `${problems.length === 0 ? "as it should" : "WRONG       "}  ${[name, ...problems].join("\n              ")}\n`,
  );
const wrong = results.filter(({ problems }) => problems.length > 0).length;
process.stdout.write(`field: ${results.length} inputs, ${wrong} wrong\n`);
process.exitCode = wrong === 0 ? 0 : 1;
