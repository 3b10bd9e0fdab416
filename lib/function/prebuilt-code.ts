import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as lambda from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { type Files, writeCode } from "./code-files.ts";
import { nameOf } from "./entry-name.ts";
import type { CodeOf } from "./pipeline-function.ts";

/** The package has its functions beside the file that this module becomes a part of, each in a folder `<name>.<digest>`. */
const functions = join(import.meta.dirname, "functions");

/** As a folder of the package calls a function, before its digest. */
export function folderOf(entry: string): string {
  return nameOf(entry).replaceAll("/", "--");
}

/** The code that the package brings: nothing is bundled. @throws in the repository itself, which has none */
export function prebuiltCode(scope: IConstruct): CodeOf {
  if (!existsSync(functions)) {
    throw new Error(
      `${functions} is not there: the package is built with npm run build, the repository's app bundles them itself`,
    );
  }
  const folders = readdirSync(functions);
  const root = mkdtempSync(join(tmpdir(), "income-events-code-"));
  // Copied into the assembly when the function is made, unless the app asks to do without.
  if (scope.node.tryGetContext("aws:cdk:disable-asset-staging") === undefined) {
    process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  }
  return (entry, settings) => {
    const name = folderOf(entry);
    const folder = folders.find((each) => each.startsWith(`${name}.`));
    if (folder === undefined) throw new Error(`The package has no function ${name}: install it again`);
    const { directory, digest } = writeCode(join(root, name), filesIn(join(functions, folder)), settings);
    return lambda.Code.fromAsset(directory, { assetHash: digest });
  };
}

function filesIn(directory: string): Files {
  const names = globSync("**/*.{mjs,json}", { cwd: directory }).sort();
  return new Map(names.map((name) => [name, readFileSync(join(directory, name))]));
}
