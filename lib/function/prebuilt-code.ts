import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { z } from "zod";
import { writeCode } from "./code-files.ts";
import { nameOf } from "./entry-name.ts";
import type { CodeOf } from "./pipeline-function.ts";

/** The package has its functions beside the file that this module becomes a part of. */
const directory = join(import.meta.dirname, "functions");

/** Says by what names the package has the files of each entry file; what several have is there once. */
export const prebuiltList = "functions.json";
const list = z.record(z.string(), z.record(z.string(), z.string()));

/** The code that the package brings: nothing is bundled. @throws in the repository itself, which has none */
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
  // Copied into the assembly when the function is made, unless the app asks to do without.
  if (scope.node.tryGetContext("aws:cdk:disable-asset-staging") === undefined) {
    process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  }
  return (entry, settings) => {
    const names = functions[entry];
    if (names === undefined) throw new Error(`The package has no function ${entry}: install it again`);
    const files = Object.entries(names).map(
      ([name, kept]) => [name, readFileSync(join(directory, kept))] as const,
    );
    const written = writeCode(join(root, nameOf(entry)), new Map(files), settings);
    return lambda.Code.fromAsset(written.directory, { assetHash: written.digest });
  };
}

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
