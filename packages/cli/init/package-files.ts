import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fieldsOf, isFields } from "../../../domain/core/parse.ts";
import { CommandError } from "../core/command-error.ts";

/** The packages of ours that an app depends on: their names on a registry, and their files. */
export const packageFiles: Readonly<Record<string, string>> = {
  "@income-events/cdk": "income-events-cdk",
  "@income-events/subscriber": "income-events-subscriber",
  "@income-events/local-stack": "income-events-local-stack",
};

/**
 * The packages' files, where this one was installed from its file: they are on no registry then.
 * @param installed the folder of this package
 * @returns paths by name; undefined: it came from a registry, which has the others, too
 * @throws CommandError where one of the others is not beside it
 */
export function filesBeside(installed: string, version: string): ReadonlyMap<string, string> | undefined {
  const file = installedFile(installed);
  return file === undefined ? undefined : filesIn(dirname(file), version);
}

/** @throws CommandError naming what is not there */
export function filesIn(folder: string, version: string): ReadonlyMap<string, string> {
  const files = Object.entries(packageFiles).map(
    ([name, file]) => [name, join(folder, `${file}-${version}.tgz`)] as const,
  );
  const missing = files.filter(([, path]) => !existsSync(path)).map(([, path]) => path);
  if (missing.length > 0) {
    throw new CommandError(
      "failed",
      `An app needs these files too: ${missing.join(", ")}. \`npm run build\` in the repository of income-events makes them side by side.`,
    );
  }
  return new Map(files);
}

/** The file that a folder was installed from, as npm has noted it beside. */
function installedFile(folder: string): string | undefined {
  const modules = dirname(dirname(folder));
  const notes = join(modules, ".package-lock.json");
  if (basename(modules) !== "node_modules" || !existsSync(notes)) return undefined;
  const { packages } = fieldsOf(JSON.parse(readFileSync(notes, "utf8")), notes);
  const own = fieldsOf(packages, notes)["node_modules/@income-events/cdk"];
  const from = isFields(own) && typeof own.resolved === "string" ? own.resolved : "";
  if (!from.startsWith("file:") || !from.endsWith(".tgz")) return undefined;
  return resolve(dirname(modules), decodeURI(from.slice("file:".length)));
}
