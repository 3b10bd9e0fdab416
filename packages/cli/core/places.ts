import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, parseJson, textOf } from "../../../domain/core/parse.ts";

/** The package has the commands in one file of JavaScript; the repository runs them as they are written. */
const isPackaged = !import.meta.filename.endsWith(".ts");

/** Holds `package.json`. */
export const packageDirectory = join(import.meta.dirname, isPackaged ? ".." : "../../..");

/** The program itself. */
export const programFile = join(
  packageDirectory,
  isPackaged ? "dist/income-events.mjs" : "packages/cli/main.ts",
);

/** Holds `stages/` and what runs on this machine: the repository, or the folder that a packaged command is run in. */
export const projectDirectory = isPackaged ? process.cwd() : packageDirectory;

/** Settings of the stages. */
export const stagesDirectory = join(projectDirectory, "stages");

/** Cache of the files that Node has compiled. */
export const compileCacheDirectory = join(packageDirectory, ".local/compile-cache");

/** The app that `init` writes, as files. */
export const templateDirectory = join(packageDirectory, isPackaged ? "dist/template" : "examples/minimal");

/** Where `npm run build` leaves the packages; undefined in one of them. */
export const builtPackages = isPackaged ? undefined : join(packageDirectory, ".local/packages");

/** The package's version, for bug reports. */
export function packageVersion(): string {
  const file = join(packageDirectory, "package.json");
  return textOf(fieldsOf(parseJson(readFileSync(file, "utf8"), file), file), "version");
}
