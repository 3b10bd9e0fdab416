/**
 * Checks that the repository may be shared: `npm run check`, or `npm run check -- <part>…` for parts of it.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";

const repository = join(import.meta.dirname, "..");
const forAll = "0BSD;Apache-2.0;BlueOak-1.0.0;BSD-2-Clause;BSD-3-Clause;ISC;MIT;MIT-0;Unlicense";
/** Licenses of tools and their data, which are used unchanged and reach no bundle. */
const forTools = `${forAll};CC-BY-3.0;CC-BY-4.0;CC0-1.0;MPL-2.0;PSF-2.0;Python-2.0`;
const licences = "license-checker-rseidelsohn --excludePrivatePackages --summary --onlyAllow";

/** Programs of `node_modules/.bin` with their arguments; longest first, since two run at a time. */
const parts: Readonly<Record<string, string>> = {
  // Each further checker repeats the work on shared declarations.
  types: "tsc --noEmit --checkers 1 --incremental --tsBuildInfoFile .local/types.tsbuildinfo",
  synth: "cdk synth --quiet",
  lint: "biome check --error-on-warnings .",
  docs: "node scripts/documents/main.ts --check",
  "dead-code": "knip",
  "page-types": "tsc --noEmit -p packages/console/page",
  licences: `${licences} ${forTools}`,
  "licences-deployed": `${licences} ${forAll} --production`,
  lockfile: "lockfile-lint --path package-lock.json --type npm --allowed-hosts npm -s -n -i --format plain",
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  say(`Unknown part ${unknown.join(", ")}. Parts: ${Object.keys(parts).join(", ")}.`);
  process.exitCode = 2;
} else {
  await Promise.all([work(), work()]);
}

async function work(): Promise<void> {
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const began = performance.now();
    const { passed, output } = await run(parts[name] ?? "");
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(`${passed ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
    if (passed) continue;
    say(`${output.trimEnd()}\n${name} failed. To run it again: npm run check -- ${name}\n`);
    process.exitCode = 1;
  }
}

function run(line: string): Promise<{ readonly passed: boolean; readonly output: string }> {
  const [program = "", ...args] = line.split(" ");
  const file = program === "node" ? process.execPath : join(repository, "node_modules/.bin", program);
  return new Promise((resolve) => {
    execFile(file, args, { cwd: repository, maxBuffer: 64 * 1_048_576 }, (error, stdout, stderr) =>
      resolve({ passed: error === null, output: stdout + stderr }),
    );
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
