import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { fieldsOf, isFields } from "../../../domain/core/parse.ts";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { builtPackages, packageDirectory, packageVersion, templateDirectory } from "../core/places.ts";
import { commandLine } from "../core/text.ts";

export function addTo(program: Command): void {
  addOfflineCommand(program, {
    name: "init <folder>",
    summary:
      "Writes a small CDK app with the pipeline into a new folder: stages, a subscriber, a test and a workflow.",
    examples: [
      "npx income-events init my-events",
      "npx income-events init my-events --json    print the file names for a program",
    ],
    run: async (terminal, _, folder = "") => {
      const version = packageVersion();
      const files =
        builtPackages === undefined
          ? filesBeside(packageDirectory, version)
          : filesIn(builtPackages, version);
      const written = writeApp(folder, { files, template: templateDirectory });
      terminal.result(
        { folder: resolve(folder), files: written },
        [
          `Wrote ${written.length} files to ${folder}:`,
          ...written.map((file) => `  ${file}`),
          "",
          "Run it on this machine, beside a sandbox of the provider:",
          commandLine`  cd ${folder} && npm install && npm run dev`,
          "Before it is deployed, fill in stages/prod.json: the provider's address, and the recipients of alarms.",
        ].join("\n"),
      );
    },
  });
}

export type NewApp = {
  /** Files of the packages that it depends on, by name; undefined if they come from a registry. */
  readonly files: ReadonlyMap<string, string> | undefined;
  /** The directory of the app's template. */
  readonly template: string;
};

/** Files that the folder may contain already. */
const harmless: ReadonlySet<string> = new Set([".git", ".DS_Store"]);
/** Files that tests create in the template's folder; they are not copied. */
const leftOut: ReadonlySet<string> = new Set(["node_modules", "package-lock.json", "cdk.out", ".local"]);
/** npm leaves files with this name out of packages. */
const renamed: Readonly<Record<string, string>> = { gitignore: ".gitignore" };
const folderOfPackages = "packages";

/**
 * Writes a small CDK app into a new or empty folder.
 * @returns the written files, relative to the folder
 * @throws CommandError if the folder's name is no package name, or if it contains files
 */
export function writeApp(folder: string, { files, template }: NewApp): readonly string[] {
  const name = nameOf(folder);
  checkEmpty(folder);
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(template).filter((each) => !leftOut.has(each)))
    cpSync(join(template, entry), join(folder, renamed[entry] ?? entry), { recursive: true });
  const manifest = join(folder, "package.json");
  writeFileSync(manifest, withFiles(readFileSync(manifest, "utf8"), name, files));
  if (files !== undefined) {
    mkdirSync(join(folder, folderOfPackages));
    for (const file of files.values()) cpSync(file, join(folder, folderOfPackages, basename(file)));
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => relative(folder, join(parentPath, file)))
    .sort();
}

/** The package's name, from the folder's. */
function nameOf(folder: string): string {
  const name = basename(resolve(folder));
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name) && name !== "node_modules") return name;
  throw CommandError.usage(
    `The app can't be named ${JSON.stringify(name)}: give its folder a name of 1 to 64 lower-case letters, digits, ".", "_" and "-" that begins with a letter or digit.`,
  );
}

function checkEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory())
    throw CommandError.usage(`${folder} is a file: name a folder that is not there, or empty.`);
  const [held] = readdirSync(folder).filter((name) => !harmless.has(name));
  if (held !== undefined)
    throw CommandError.usage(
      `${folder} is not empty: it holds ${held}. Name a folder that is not there, or empty.`,
    );
}

function withFiles(text: string, name: string, files: NewApp["files"]): string {
  const manifest = { ...fieldsOf(JSON.parse(text), "package.json"), name };
  const dependencies = Object.fromEntries(
    Object.entries(manifest)
      .filter(([key]) => /ependencies$/.test(key))
      .map(([key, value]) => [key, withPaths(fieldsOf(value, key), files)]),
  );
  return `${JSON.stringify({ ...manifest, ...dependencies }, undefined, 2)}\n`;
}

function withPaths(versions: Readonly<Record<string, unknown>>, files: NewApp["files"]) {
  return Object.fromEntries(
    Object.entries(versions).map(([name, version]) => {
      const file = files?.get(name);
      return [name, file === undefined ? version : `file:${folderOfPackages}/${basename(file)}`];
    }),
  );
}

/** This project's packages that an app depends on: their names in a registry, and their files. */
export const packageFiles: Readonly<Record<string, string>> = {
  "@income-events/cdk": "income-events-cdk",
  "@income-events/subscriber": "income-events-subscriber",
  "@income-events/local-stack": "income-events-local-stack",
};

/**
 * The packages' files, if this package was installed from a file rather than from a registry.
 * @param installed the folder of this package
 * @returns paths by name; undefined if a registry has the packages
 * @throws CommandError if another package's file is not beside this one's
 */
export function filesBeside(installed: string, version: string): ReadonlyMap<string, string> | undefined {
  const file = installedFile(installed);
  return file === undefined ? undefined : filesIn(dirname(file), version);
}

/** @throws CommandError naming a missing file */
export function filesIn(folder: string, version: string): ReadonlyMap<string, string> {
  const files = Object.entries(packageFiles).map(
    ([name, file]) => [name, join(folder, `${file}-${version}.tgz`)] as const,
  );
  const missing = files.filter(([, path]) => !existsSync(path)).map(([, path]) => path);
  if (missing.length > 0)
    throw CommandError.failed(
      `An app needs these files too: ${missing.join(", ")}. \`npm run build\` in the repository of income-events makes them side by side.`,
    );
  return new Map(files);
}

/** The file that a folder was installed from, according to npm's own record. */
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
