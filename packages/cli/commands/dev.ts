import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Command } from "commander";
import { CommandError } from "../core/command-error.ts";
import { packageVersion, programFile, projectDirectory } from "../core/places.ts";

const oldestNode = 24;
const localStack = "@income-events/local-stack";

export function addTo(program: Command): void {
  program
    .command("dev")
    .description(
      "Runs this folder's CDK app and a sandbox of the provider on this machine until Ctrl-C, and follows changes of the app.",
    )
    .argument("[options...]", "options of the local stack, listed below")
    .allowUnknownOption()
    .addHelpText("after", () =>
      [
        "\nExamples:",
        "  npx income-events dev",
        "  npx income-events dev --ports auto              beside another system on this machine",
        "  npx income-events dev --subscriber billing=subscriber.ts",
        "                                                  run a program that reads the queue of billing",
        "  npx income-events dev --keep .local/state       continue with this state at the next start",
        `\n${helpOfLocalStack()}`,
      ].join("\n"),
    )
    .action(async (_options: unknown, _flags: unknown, command: Command) => {
      const code = await run(["--watch", ...command.args]);
      if (code !== 0) throw CommandError.failed(`The local stack ended with the exit code ${code}.`);
    });
}

/** The local stack's options, or how to install it. */
function helpOfLocalStack(): string {
  try {
    const { stdout } = spawnSync(process.execPath, [startOfLocalStack(), "--help"], { encoding: "utf8" });
    const [, options = ""] = /^Options:\n([\s\S]*?)\n\n/m.exec(stdout) ?? [];
    return `Options of the local stack:\n${options}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @returns its exit code */
async function run(args: readonly string[]): Promise<number> {
  if (process.versions.pnp !== undefined)
    throw CommandError.failed(
      "dev does not run under Yarn's Plug'n'Play. Write `nodeLinker: node-modules` in .yarnrc.yml, then run: yarn install",
    );
  const start = startOfLocalStack();
  if (Number(process.versions.node.split(".")[0]) < oldestNode)
    throw CommandError.failed(
      `The local stack needs Node ${oldestNode} or later; this is ${process.version}. Install it: npm install --save-dev node@${oldestNode}`,
    );
  const child = spawn(process.execPath, [start, "--console", programFile, ...args], { stdio: "inherit" });
  // Ctrl-C reaches both processes; other signals only this one.
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on("SIGTERM", pass).on("SIGHUP", pass);
  // The local stack shuts down first, and this process after it.
  process.on("SIGINT", () => undefined);
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done(code ?? 1));
  });
}

/** The local stack is a package of its own, which a deployment does not need. */
function startOfLocalStack(): string {
  try {
    return createRequire(join(projectDirectory, "package.json")).resolve(`${localStack}/start.ts`);
  } catch {
    throw CommandError.failed(
      `${localStack}, which runs the app on this machine, is not installed in ${projectDirectory}. Install the version of @income-events/cdk:\n  npm install --save-dev --save-exact ${localStack}@${packageVersion()}`,
    );
  }
}
