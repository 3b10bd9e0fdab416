import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { run, type Source } from "../support/installed-app.ts";

const examples = join(import.meta.dirname, "../../examples");
const versions = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: versions, devDependencies: versions });
/** Packages of this repository, installed from their files. */
const own = /^@income-events\/(.*)$/;

/** Folders of the examples that are CDK apps. */
export const exampleNames: readonly string[] = globSync("*/cdk.json", { cwd: examples }).map(dirname).sort();

/**
 * Installs the dependencies of all examples into one folder with the examples below it, where Node finds
 * them.
 * @throws if two examples need different versions of a package
 */
export async function installExamples(source: Source, folder: string): Promise<void> {
  const all = new Map<string, string>();
  for (const name of exampleNames) {
    cpSync(join(examples, name), join(folder, name), { recursive: true });
    const text = readFileSync(join(folder, name, "package.json"), "utf8");
    const { dependencies, devDependencies } = manifest.parse(JSON.parse(text));
    for (const [wanted, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      const known = all.get(wanted) ?? version;
      if (known !== version) throw new Error(`${wanted}: ${known}, and ${version} in ${name}`);
      all.set(wanted, version);
    }
  }
  const dependencies = [...all].map(([name, version]) => {
    const [, file] = own.exec(name) ?? [];
    return [name, file === undefined ? version : `file:${source.fileOf(file)}`];
  });
  const content = { name: "examples", private: true, dependencies: Object.fromEntries(dependencies) };
  writeFileSync(join(folder, "package.json"), JSON.stringify(content));
  await run(source, folder, ["npm", "install"]);
}
