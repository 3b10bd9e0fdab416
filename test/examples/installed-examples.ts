import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { run, type Source } from "../support/installed-app.ts";

const examples = join(import.meta.dirname, "../../examples");
const versions = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: versions, devDependencies: versions });
/** The packages of this repository, which are installed from their files. */
const own = /^@income-events\/(.*)$/;

/** The folders of the examples that are apps of CDK. */
export const exampleNames: readonly string[] = globSync("*/cdk.json", { cwd: examples }).map(dirname).sort();

/**
 * Installs all that the examples depend on into one folder, and lets each stand in a folder below: Node finds there what is
 * installed above.
 * @throws where two examples want other versions of one package
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
