import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { z } from "zod";
import { writeCode } from "./code-files.ts";
import type { CodeOf } from "./pipeline-function.ts";

/** In the package, the functions are beside the file into which this module is bundled. */
const directory = join(import.meta.dirname, "functions");

/** Lists the package's file names for each entry file. A file that several functions share exists once. */
export const prebuiltList = "functions.json";
const list = z.record(z.string(), z.record(z.string(), z.string()));

/** Returns the code that the package contains, without bundling. @throws in the repository itself, which has none */
export function prebuiltCode(scope: IConstruct): CodeOf {
  const file = join(directory, prebuiltList);
  if (!existsSync(file)) {
    throw new Error(
      `${file} is not there: the package is built with npm run build; the repository's own app bundles its functions`,
    );
  }
  checkInstallation(scope, join(import.meta.dirname, ".."));
  const functions = list.parse(JSON.parse(readFileSync(file, "utf8")));
  const root = mkdtempSync(join(tmpdir(), "income-events-code-"));
  // CDK copies the code into the assembly when it creates the function, unless asset staging is disabled.
  if (scope.node.tryGetContext("aws:cdk:disable-asset-staging") === undefined) {
    process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  }
  return (entry, settings, name) => {
    const names = functions[entry];
    if (names === undefined) throw new Error(`The package has no function ${entry}: install it again`);
    const files = Object.entries(names).map(
      ([name, kept]) => [name, readFileSync(join(directory, kept))] as const,
    );
    const written = writeCode(join(root, name), new Map(files), settings);
    return lambda.Code.fromAsset(written.directory, { assetHash: written.digest });
  };
}

const manifest = z.object({
  version: z.string(),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});
/** Shared by all loaded copies of the package. */
const copyOf = Symbol.for("@income-events/cdk");

/**
 * Refuses installations that package managers only warn about, before they fail elsewhere.
 * @param directory of the package
 * @throws if a peer is too old or of another major version, or if an app has two copies of the package
 */
function checkInstallation(scope: IConstruct, directory: string): void {
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
