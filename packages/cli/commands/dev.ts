import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Command } from "commander";
import { CommandError } from "../core/command-error.ts";
import { programFile, projectDirectory } from "../core/places.ts";

const oldestNode = 24;
const localStack = "@income-events/local-stack";

export function addTo(program: Command): void {
  program
    .command("dev")
    .description(
      "Runs this folder's CDK app on this machine, beside a sandbox of the provider, until Ctrl-C; again whenever the app changes.",
    )
    .argument("[options...]", "those of the local stack: see --options")
    .option("--options", "print the options of the local stack")
    .allowUnknownOption()
    .addHelpText(
      "after",
      [
        "\nExamples:",
        "  npx income-events dev",
        "  npx income-events dev --subscriber billing=subscriber.ts    with a program that reads the queue of billing",
        "  npx income-events dev --keep .local/state    goes on there at the next start",
      ].join("\n"),
    )
    .action(async (_options: unknown, { options }: { readonly options?: boolean }, command: Command) => {
      const args = command.args.filter((word) => word !== "--options");
      const code = await run(options === true ? ["--help"] : ["--watch", ...args]);
      if (code !== 0) throw CommandError.failed(`The local stack ended with the exit code ${code}.`);
    });
}

/** @returns its exit code */
async function run(args: readonly string[]): Promise<number> {
  if (process.versions.pnp !== undefined)
    throw CommandError.failed(
      "dev does not run under yarn's Plug'n'Play. Write `nodeLinker: node-modules` in .yarnrc.yml, and run: yarn install",
    );
  const start = startOfLocalStack();
  if (Number(process.versions.node.split(".")[0]) < oldestNode)
    throw CommandError.failed(
      `The local stack needs Node ${oldestNode} or later; this is ${process.version}.`,
    );
  const child = spawn(process.execPath, [start, "--console", programFile, ...args], { stdio: "inherit" });
  // Ctrl-C reaches both; whoever ends this process alone means the other, too.
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on("SIGTERM", pass).on("SIGHUP", pass).on("SIGINT", ignore);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done(code ?? 1));
  });
}

function ignore(): void {
  // The local stack ends in order, and this process after it.
}

/** It is a package of its own: who deploys needs none of it. */
function startOfLocalStack(): string {
  try {
    return createRequire(join(projectDirectory, "package.json")).resolve(`${localStack}/start.ts`);
  } catch {
    throw CommandError.failed(
      `${localStack} is not installed in ${projectDirectory}: it runs the app on this machine. Install it beside @income-events/cdk, in the same version: npm install --save-dev --save-exact ${localStack}`,
    );
  }
}
