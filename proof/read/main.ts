/**
 * Counts what a read of a document costs, times it beside a bare GetItem, and streams a large one. `--help` says more.
 */
import { dynamoDbEngines } from "@income-events/local-stack/engines/dynamodb.ts";
import type { StartOptions } from "@income-events/local-stack/options.ts";
import { wholeNumber } from "@income-events/local-stack/whole-number.ts";
import { Command, Option } from "commander";
import { shortfallsOf, startReadStack } from "./measure.ts";

const description = `Reads documents through the synthesized function's URL, with signatures, on this machine.

A small document is read again and again, in turn with a bare GetItem of the same item through the same gateway. A read
may cost one invocation, one request and two read units, and no write; its median may be three times a GetItem's. Then a
document of 200 MB is streamed, within the function's memory. Exit code 1: something is over these.`;

const { reads, megabytes, engine } = new Command("npm run proof -- read")
  .description(description)
  .option("--reads <count>", "of the small document", wholeNumber(1), 500)
  .option("--megabytes <count>", "of the large document", wholeNumber(1, 500), 200)
  .addOption(
    new Option("--engine <name>", "of the table; dynamodb-local needs Java 17").choices(dynamoDbEngines),
  )
  .addHelpText("after", "\nExamples:\n  npm run proof -- read")
  .parse()
  .opts<{ readonly reads: number; readonly megabytes: number; readonly engine?: StartOptions["engine"] }>();

await using stack = await startReadStack(engine);
const small = await stack.measureSmall(reads);
const each = (count: number) => (count / small.reads).toFixed(2);
const ratio = small.readMillis / small.getItemMillis;
process.stdout.write(
  `small: invocations ${each(small.invocations)} requests ${each(small.requests)} ` +
    `read units ${each(small.readUnits)} write units ${each(small.writeUnits)} per read, ` +
    `p50 ${ratio.toFixed(1)} times a GetItem's\n`,
);
const short = [...shortfallsOf(small), ...(ratio > 3 ? ["the median is over three times a GetItem's"] : [])];
for (const coding of ["identity", "gzip"] as const) {
  const large = await stack.measureLarge(megabytes * 1_000_000, coding);
  process.stdout.write(
    `large: ${megabytes} MB as ${coding}, ${Math.round(large.maxResidentBytes / 2 ** 20)} MB of ${large.memoryMb} MB\n`,
  );
  short.push(...shortfallsOf(large));
}
for (const shortfall of short) process.stderr.write(`${shortfall}\n`);
process.exitCode = short.length === 0 ? 0 : 1;
