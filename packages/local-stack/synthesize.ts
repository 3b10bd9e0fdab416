import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { resolve } from "node:path";

/**
 * Synthesizes the stack as `cdk synth` does, into a directory of its own.
 * @param stage the stage whose settings are used
 * @param settings a file that is read in place of the stage's
 * @throws with the app's own words where a setting is wrong
 */
export async function synthesize(stage: string, directory: string, settings?: string): Promise<string> {
  const output = resolve(directory);
  const cdk = createRequire(import.meta.url).resolve("aws-cdk/bin/cdk");
  const args = ["synth", "--quiet", "--context", `stage=${stage}`, "--output", output];
  if (settings !== undefined) args.push("--context", `settings=${resolve(settings)}`);
  // The template is the same with CDK's validation and without; `npm run check` and each deployment validate it.
  const unvalidated = ["--context", "@aws-cdk/core:validateAgainstDefaultRules=false"];
  await run(process.execPath, [cdk, ...args, ...unvalidated, "--no-notices", "--no-version-reporting"]);
  return output;
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    const heard: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => heard.push(text));
    }
    child.once("error", fail);
    child.once("close", (code) => {
      if (code === 0) done();
      else fail(new Error(`The stack could not be synthesized:\n${heard.join("").trim()}`));
    });
  });
}
