import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";

const repository = join(import.meta.dirname, "../..");
const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
const versionsOf = (folder: string) =>
  Object.assign(
    {},
    ...Object.values(
      manifest.parse(JSON.parse(readFileSync(join(repository, folder, "package.json"), "utf8"))),
    ),
  );
const folders = globSync("packages/*/package.json", { cwd: repository }).map((file) => dirname(file));

it.each(folders)("A workspace has the root's versions of what both depend on: %s", (folder) => {
  const ofRoot = versionsOf(".");
  for (const [name, version] of Object.entries(versionsOf(folder)))
    if (ofRoot[name] !== undefined) expect(`${name} ${version}`).toBe(`${name} ${ofRoot[name]}`);
});
