import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { generateMersenne53Randomizer } from "@faker-js/faker";
import { Command } from "commander";
import { estimate } from "./measure/statistics.ts";
import { importEnvironment } from "./rows/import-rows.ts";
import { parts } from "./sides.ts";

const examples = `
Each line: milliseconds of processor time to import a function, before and after, beyond what an empty file takes, and
after over before with its interval at 95 %.

Examples:
  git worktree add ../before HEAD~3 && ln -s "$PWD/node_modules" ../before/node_modules
  node proof/bench/compare-imports.ts ../before`;

const program = new Command("node proof/bench/compare-imports.ts")
  .description("Imports our functions of another checkout and of this one in fresh processes, in turns.")
  .argument("<directory>", "the other checkout: before")
  .addHelpText("after", examples)
  .parse();

const runs = 21;
/** Of all threads: on a machine with other work it says more than the time that passes. */
const script = `
const before = process.cpuUsage();
await import(process.argv[1]);
const { user, system } = process.cpuUsage(before);
process.stderr.write(String((user + system) / 1000));
process.exit();`;
const environment = {
  ...importEnvironment,
  ERASURE_KEY_ARN: "arn",
  ERASE_QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/000000000000/erase",
  FETCH_QUEUE_URL: "https://sqs.eu-central-1.amazonaws.com/000000000000/fetch",
  PROVIDER_BASE_URL: "https://provider.example",
  REFRESH_FUNCTION_NAME: "refresh",
  SUBSCRIBER_QUEUES: JSON.stringify({ reader: { queueUrl: "https://a", deadLetterQueueUrl: "https://b" } }),
  TOKEN_SECRET_ARN: "arn",
};

async function millisOf(file: string): Promise<number> {
  const args = ["--no-warnings", "--input-type=module", "--eval", script, file];
  const child = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "ignore", "pipe"] });
  const said = await text(child.stderr);
  const millis = Number(said);
  if (!Number.isFinite(millis)) throw new Error(`${file}: ${said}`);
  return millis;
}

async function assembled(repository: string) {
  const module: typeof import("./assemble.ts") = await import(join(repository, "bench", "assemble.ts"));
  return module.assemble("ours", { hasEventSources: false });
}

using before = await assembled(resolve(program.args[0] ?? ""));
using after = await assembled(resolve(import.meta.dirname, "../.."));
const random = generateMersenne53Randomizer(1);
for (const part of parts) {
  const files = [before, after].map((assembly) => join(assembly.codeOf(part), "index.mjs"));
  const found: { before: number; after: number }[] = [];
  for (let run = 0; run < runs; run += 1) {
    const empty = await millisOf("data:text/javascript,");
    const [old = Number.NaN, now = Number.NaN] = [
      await millisOf(files[0] ?? ""),
      await millisOf(files[1] ?? ""),
    ];
    found.push({ before: old - empty, after: now - empty });
  }
  const [old, now, ratio] = [
    found.map((pair) => pair.before),
    found.map((pair) => pair.after),
    found.map((pair) => pair.after / pair.before),
  ].map((values) => estimate(values, () => random.next()));
  const digits = (value = Number.NaN) => value.toPrecision(3);
  process.stdout.write(
    `${part} ${digits(old?.median)} ${digits(now?.median)} × ${digits(ratio?.median)} (${digits(ratio?.low)} to ${digits(ratio?.high)})\n`,
  );
}
