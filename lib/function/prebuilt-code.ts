import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { z } from "zod";
import { writeCode } from "./code-files.ts";
import { nameOf } from "./entry-name.ts";
import { checkInstallation } from "./installation.ts";
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
