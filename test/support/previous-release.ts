import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { type ProductAssembly, productAssembly } from "../../tools/product-assembly.ts";

const repository = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);
const release = z.object({ version: z.string(), commit: z.string() });

/** The release before this one, as `test/previous-release.json` names it. */
export async function previousRelease(): Promise<z.output<typeof release>> {
  return release.parse(JSON.parse(await readFile(join(repository, "test", "previous-release.json"), "utf8")));
}

/**
 * Synthesizes a commit's own stack with its own settings of a stage, out of the repository's history and with the
 * packages that are installed now.
 * @param changes settings in the place of the stage's, group by group
 * @throws where the history does not have the commit
 */
export async function synthesizeCommit(
  commit: string,
  stage: string,
  changes: object,
): Promise<ProductAssembly> {
  const [sources, directory] = await Promise.all(
    ["release-sources-", "release-"].map((name) => mkdtemp(join(tmpdir(), name))),
  );
  if (sources === undefined || directory === undefined) throw new Error("no directory for the release");
  try {
    await extract(commit, sources);
    await symlink(join(repository, "node_modules"), join(sources, "node_modules"));
    const known: unknown = JSON.parse(await readFile(join(sources, "stages", `${stage}.json`), "utf8"));
    const settings = join(sources, "settings.json");
    await writeFile(settings, JSON.stringify({ ...Object(known), ...changes }));
    const context = { stage, settings, "@aws-cdk/core:validateAgainstDefaultRules": false };
    const variables = { CDK_OUTDIR: directory, CDK_CONTEXT_JSON: JSON.stringify(context) };
    const program = join(sources, "bin", "income-events.ts");
    await run(process.execPath, [program], { cwd: sources, env: { ...process.env, ...variables } });
    return productAssembly(directory);
  } finally {
    await rm(sources, { recursive: true, force: true });
  }
}

async function extract(commit: string, directory: string): Promise<void> {
  // Whoever runs the tests may not be who cloned, as in continuous integration.
  const git = (...args: string[]) => run("git", ["-C", repository, "-c", "safe.directory=*", ...args]);
  await git("cat-file", "-e", `${commit}^{commit}`).catch((error: unknown) => {
    throw new Error(
      `The history lacks the commit ${commit}: a shallow clone gets it with git fetch --unshallow, a copy without .git can't. ${error}`,
    );
  });
  const archive = join(directory, "release.tar");
  await git("archive", "--output", archive, commit);
  await run("tar", ["-xf", archive, "-C", directory]);
}
