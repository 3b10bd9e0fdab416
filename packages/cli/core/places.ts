import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";

/** The package has the commands as one JavaScript file; the repository runs the TypeScript sources. */
const isPackaged = !import.meta.filename.endsWith(".ts");

export const packageDirectory = join(import.meta.dirname, isPackaged ? ".." : "../../..");

export const programFile = join(
  packageDirectory,
  isPackaged ? "dist/income-events.mjs" : "packages/cli/main.ts",
);

/** Contains `stages/` and local state: the repository, or a packaged command's working directory. */
export const projectDirectory = isPackaged ? process.cwd() : packageDirectory;

export const stagesDirectory = join(projectDirectory, "stages");

export const compileCacheDirectory = join(packageDirectory, ".local/compile-cache");

/** The template of the app that `init` writes. */
export const templateDirectory = join(packageDirectory, isPackaged ? "dist/template" : "examples/minimal");

/** Where `npm run build` writes the packages; undefined inside a package. */
export const builtPackages = isPackaged ? undefined : join(packageDirectory, ".local/packages");

/** The package's version, for bug reports. */
export function packageVersion(): string {
  const file = join(packageDirectory, "package.json");
  return textOf(fieldsOf(parseJson(readFileSync(file, "utf8"), file), file), "version");
}
