import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { digestOfInputs, type Project, readProject } from "./project.ts";

/**
 * Synthesizes a project's stack into a new directory, as `cdk synth` does. Copies a cached assembly if
 * nothing has changed.
 * @param stage the stage whose settings are used
 * @param settings a file that replaces the stage's settings
 * @param project the directory of `cdk.json`
 * @returns the directory's absolute path
 * @throws with the app's own output if a setting is wrong
 */
export async function synthesize(
  stage: string,
  directory: string,
  settings?: string,
  project = process.cwd(),
): Promise<string> {
  const output = resolve(directory);
  const named = settings === undefined ? {} : { settings: resolve(settings) };
  const context = { stage, ...named };
  const app = readProject(project);
  if (app.watch === undefined) {
    await mkdir(output, { recursive: true });
    await runApp(app, context, output);
    return output;
  }
  // The content of a settings file counts, not its path.
  const digest = digestOfInputs(app, { stage, hasSettings: settings !== undefined }, Object.values(named));
  const cached = join(cacheOf(app), digest);
  if (!existsSync(cached)) await fill(app, context, cached);
  await utimes(cached, new Date(), new Date());
  await cp(cached, output, { recursive: true });
  return output;
}

function cacheOf({ directory }: Project): string {
  return join(directory, ".local/assemblies");
}

/** Fills the cache. Processes may race: the first one moves its complete assembly into place. */
async function fill(app: Project, context: Readonly<Record<string, unknown>>, cached: string): Promise<void> {
  const cache = cacheOf(app);
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  try {
    await runApp(app, context, draft);
    await rename(draft, cached).catch((error: unknown) => {
      if (!existsSync(cached)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await forgetOldest(cache);
}

/** Maximum cached assemblies, 20 MB each. */
const kept = 8;
/** Milliseconds without use after which no process still copies an assembly. */
const unusedFor = 600_000;

async function forgetOldest(cache: string): Promise<void> {
  const entries = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const path = join(cache, name);
      // Another process may have deleted it.
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
      return { path, mtimeMs };
    }),
  );
  const old = entries
    .sort((one, other) => other.mtimeMs - one.mtimeMs)
    .slice(kept)
    .filter(({ mtimeMs }) => mtimeMs < Date.now() - unusedFor);
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}

/**
 * Context that the CDK CLI passes to an app, besides `cdk.json` and the command line; without template
 * validation.
 */
const contextOfCli = {
  "aws:cdk:enable-path-metadata": true,
  "aws:cdk:enable-asset-metadata": true,
  "aws:cdk:disable-version-reporting": true,
  "aws:cdk:bundling-stacks": ["**"],
};

/**
 * Runs a project's app as `cdk synth --no-validation`, which takes several times as long, with the same
 * template (test/e2e/synthesis.proof.test.ts). Does not read `cdk.context.json`: a stack that looks values up
 * in AWS cannot run locally.
 * @param output the directory of the assembly
 * @throws with the app's own output if it fails
 */
export async function runApp(
  { directory, app, context }: Project,
  given: Readonly<Record<string, unknown>>,
  output: string,
): Promise<void> {
  const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
  // Nothing else of this process's environment, because the app's inputs must all be in the cache key.
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
