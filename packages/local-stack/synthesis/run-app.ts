import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import type { Project } from "./project.ts";

/** As the CDK CLI reports an app, beside what `cdk.json` and the command line say; without checks of the template. */
const contextOfCli = {
  "aws:cdk:enable-path-metadata": true,
  "aws:cdk:enable-asset-metadata": true,
  "aws:cdk:disable-version-reporting": true,
  "aws:cdk:bundling-stacks": ["**"],
};

/**
 * Runs a project's app as `cdk synth --no-validation` does, which takes several times as long; the template is the same
 * (test/e2e/synthesis.proof.test.ts). `cdk.context.json` is not read: a stack that looks values up in AWS is no local one.
 * @param output the directory of the assembly
 * @throws with the app's own words where it fails
 */
export async function runApp(
  { directory, app, context }: Project,
  given: Readonly<Record<string, unknown>>,
  output: string,
): Promise<void> {
  const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
  // Nothing else of this process's environment: what the app could read there would be no input of the cache.
  const env = {
    PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    HOME,
    TMPDIR,
    CDK_OUTDIR: output,
    CDK_CONTEXT_JSON: JSON.stringify({ ...contextOfCli, ...context, ...given }),
    CDK_VALIDATION: "false",
    NODE_COMPILE_CACHE: join(directory, ".local/compile-cache"),
  };
  const child = spawn(app, { cwd: directory, env, shell: true, stdio: ["ignore", "pipe", "pipe"] });
  const heard: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => heard.push(text));
  }
  const code = await new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  if (code !== 0) throw new Error(`The stack could not be synthesized:\n${heard.join("").trim()}`);
}
