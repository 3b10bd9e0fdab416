import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { IConstruct } from "constructs";
import { z } from "zod";

const manifest = z.object({
  version: z.string(),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});
/** The same for each copy of the package that is loaded. */
const copyOf = Symbol.for("@income-events/cdk");

/**
 * Refuses what package managers only warn of, before it fails somewhere else.
 * @param directory the package's
 * @throws where a peer is too old or of another major version, or an app has two copies of the package
 */
export function checkInstallation(scope: IConstruct, directory: string): void {
  const { peerDependencies } = manifestOf(join(directory, "package.json"));
  const required = createRequire(join(directory, "index.js"));
  for (const [name, range] of Object.entries(peerDependencies)) {
    const { version } = manifestOf(required.resolve(`${name}/package.json`));
    if (!isWithin(version, range))
      throw new Error(
        `@income-events/cdk works with ${name} ${range}, and ${version} is installed: npm install --save-exact ${name}@${range.slice(1)}`,
      );
  }
  const { root } = scope.node;
  const known: unknown = Reflect.get(root, copyOf);
  if (typeof known === "string" && known !== directory)
    throw new Error(
      `The app has two copies of @income-events/cdk, in ${known} and in ${directory}: let all packages of the app depend on one version, and install again (npm dedupe; npm ls @income-events/cdk shows who brings them)`,
    );
  Object.defineProperty(root, copyOf, { value: directory, configurable: true });
}

function manifestOf(file: string) {
  return manifest.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** @param range of the form ^1.2.3 */
function isWithin(version: string, range: string): boolean {
  const numbersOf = (text: string) => text.split(/[.-]/).slice(0, 3).map(Number);
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const [ofMajor = 0, ofMinor = 0, ofPatch = 0] = numbersOf(range.slice(1));
  return major === ofMajor && (minor > ofMinor || (minor === ofMinor && patch >= ofPatch));
}
