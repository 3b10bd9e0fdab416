/** Looks whether the repository is fit to be shared: `npm run check`, or `npm run check -- <part>…` for parts of it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Part, parts } from "./parts.ts";

const repository = join(import.meta.dirname, "../..");
const atOnce = 2;

type Outcome = { readonly part: Part; readonly passed: boolean };

const names = process.argv.slice(2);
const unknown = names.filter((name) => parts.every((part) => part.name !== name));
if (unknown.length > 0) {
  const known = parts.map(({ name }) => name).join(", ");
  say(`There is no part ${unknown.join(", ")}. There are: ${known}.`);
  process.exitCode = 2;
} else {
  const chosen = names.length === 0 ? parts : parts.filter(({ name }) => names.includes(name));
  process.exitCode = (await check(chosen)) ? 0 : 1;
}

async function check(chosen: readonly Part[]): Promise<boolean> {
  const began = performance.now();
  const waiting = [...chosen];
  const outcomes: Outcome[] = [];
  const work = async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift())
      outcomes.push(await runPart(part));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const failed = outcomes.filter(({ passed }) => !passed).map(({ part }) => part);
  for (const { name, remedy } of failed) say(`FAILED ${name}: ${remedy}; again: npm run check -- ${name}`);
  say(
    `check: ${outcomes.length - failed.length} of ${outcomes.length} parts passed in ${secondsSince(began)}`,
  );
  return failed.length === 0;
}

/** Prints a line where it passed, and all that it said where it did not. */
async function runPart(part: Part): Promise<Outcome> {
  const began = performance.now();
  const { code, output } = await run(part.run);
  const passed = code === 0;
  say(`${passed ? "ok    " : "FAILED"} ${part.name} (${secondsSince(began)})`);
  if (!passed) say(`${output.trimEnd()}\n`);
  return { part, passed };
}

function run([program, ...args]: Part["run"]): Promise<{ readonly code: number; readonly output: string }> {
  const [command, ...before] = program.endsWith(".ts")
    ? ([process.execPath, join(repository, program)] as const)
    : ([join(repository, "node_modules/.bin", program)] as const);
  const child = spawn(command, [...before, ...args], { cwd: repository, stdio: ["ignore", "pipe", "pipe"] });
  const end = () => void child.kill();
  process.once("SIGTERM", end);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("SIGTERM", end);
      resolve({ code: code ?? 1, output });
    });
  });
}

function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
