import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const globs = z.union([z.string(), z.array(z.string())]).transform((each) => [each].flat());
const cdkJson = z.looseObject({
  app: z.string(),
  context: z.record(z.string(), z.unknown()).default({}),
  watch: z.looseObject({ include: globs.optional(), exclude: globs.default([]) }).optional(),
});

export type Project = ReturnType<typeof readProject>;

/** @throws if the directory has no `cdk.json` with an app */
export function readProject(directory: string) {
  const file = join(directory, "cdk.json");
  try {
    const { app, context, watch } = cdkJson.parse(JSON.parse(readFileSync(file, "utf8")));
    const { include, exclude = [] } = watch ?? {};
    /** `watch` has patterns of the files that a synthesis reads, and of those to exclude, if there are any. */
    return { directory, app, context, watch: include && { include, exclude } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} does not say how to synthesize the stack (app): ${reason}`);
  }
}

/**
 * Files in which npm, pnpm, yarn 1 and later yarns record installed packages. Manual changes to packages go
 * unnoticed.
 */
export const notesOfInstalls: readonly string[] = [
  "node_modules/.package-lock.json",
  "node_modules/.pnpm/lock.yaml",
  "node_modules/.yarn-integrity",
  "node_modules/.yarn-state.yml",
];

/**
 * Digest of all inputs of an assembly: the files that `cdk.json` names under `watch`, the given files, the
 * installed packages, the context and the Node version.
 */
export function digestOfInputs(
  project: Project,
  given: Readonly<Record<string, unknown>>,
  files: readonly string[],
): string {
  const { directory } = project;
  const hash = createHash("sha256");
  const add = (name: string, contents: string | Uint8Array) =>
    hash.update(`${name}\n${Buffer.byteLength(contents)}\n`).update(contents);
  add("versions", JSON.stringify([process.version, process.platform, process.arch]));
  add("context", JSON.stringify(given));
  const known = [...filesOf(project), "cdk.json", ...notesOfInstalls].map((name) => [
    name,
    join(directory, name),
  ]);
  for (const [name = "", path = ""] of [...known, ...files.map((file) => ["given", file])]) {
    if (existsSync(path)) add(name, readFileSync(path));
  }
  return hash.digest("hex").slice(0, 32);
}

/** Sorted paths of the files that `cdk.json` names under `watch`, relative to the project. */
export function filesOf({ directory, watch }: Project): readonly string[] {
  if (watch === undefined) return [];
  const found = globSync([...watch.include], {
    cwd: directory,
    exclude: [...watch.exclude],
    withFileTypes: true,
  });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}
