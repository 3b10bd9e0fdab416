import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { digestOfInputs } from "./inputs.ts";
import { type Project, readProject } from "./project.ts";
import { runApp } from "./run-app.ts";

/**
 * Synthesizes a project's stack into a directory of its own, as `cdk synth` does. Where nothing has changed since an
 * earlier time, that assembly is copied.
 * @param stage the stage whose settings are used
 * @param settings a file that is read in place of the stage's
 * @param project the directory that holds `cdk.json`
 * @returns the directory's absolute path
 * @throws with the app's own words where a setting is wrong
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
  // Of a file of settings its content counts, wherever it lies.
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

/** Others may do the same at this moment: whoever is first leaves the assembly there, whole. */
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

/** Assemblies that are kept, 20 MB each. */
const kept = 8;
/** Nobody copies what was last used so long ago, in milliseconds. */
const unusedFor = 600_000;

async function forgetOldest(cache: string): Promise<void> {
  const entries = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const path = join(cache, name);
      // Somebody else may have forgotten it already.
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
