import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const repository = join(import.meta.dirname, "../..");
const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});
const manifestOf = (folder: string) =>
  manifest.parse(JSON.parse(readFileSync(join(repository, folder, "package.json"), "utf8")));
const versionsOf = (folder: string) => {
  const { dependencies, devDependencies, optionalDependencies } = manifestOf(folder);
  return { ...dependencies, ...devDependencies, ...optionalDependencies };
};
const folders = readdirSync(join(repository, "packages")).map((name) => `packages/${name}`);

describe("each workspace", () => {
  it.each(folders)("has the root's versions of what both depend on: %s", (folder) => {
    const ofRoot = versionsOf(".");
    for (const [name, version] of Object.entries(versionsOf(folder)))
      if (ofRoot[name] !== undefined) expect(`${name} ${version}`).toBe(`${name} ${ofRoot[name]}`);
  });
});
