import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fieldsOf } from "../domain/core/parse.ts";
import { writeFiles } from "../lib/function/code-files.ts";
import { buildPackage } from "./package/build.ts";
import { asInstalled } from "./package/installed-texts.ts";
import { jsonSchemas } from "./package/schemas.ts";

// Packs the construct (cdk) and the workspaces as JavaScript with types, because Node strips no types below
// node_modules: those that are named, or all.
const repository = join(import.meta.dirname, "..");
/** The local stack's package includes the sandbox, so apps install one package. */
const sandboxName = "@income-events/sandbox";
const sandbox = join(repository, "packages/sandbox");
const { values, positionals } = parseArgs({
  options: { to: { type: "string", default: join(repository, ".local/packages") } },
  allowPositionals: true,
});
const packages = positionals.length > 0 ? positionals : ["cdk", "subscriber", "sandbox", "local-stack"];
for (const name of packages) {
  const staging = join(values.to, name);
  if (name === "cdk") await buildPackage(staging);
  else compile(join(repository, "packages", name), staging);
  if (name === "subscriber") writeFiles(join(staging, "dist/schemas"), jsonSchemas());
  execFileSync("npm", ["pack", staging, "--pack-destination", values.to], {
    stdio: ["ignore", "inherit", "ignore"],
  });
}

/** @param staging directory of the package's content, recreated; it can also be run from there */
function compile(source: string, staging: string): void {
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  const dist = join(staging, "dist");
  const { dependencies = {}, ...manifest } = manifestOf(source);
  const needed = fieldsOf(dependencies, "dependencies");
  const holdsSandbox = sandboxName in needed;
  compileTo(source, dist);
  if (holdsSandbox) compileTo(sandbox, join(dist, "sandbox"));
  const startOfSandbox = `node node_modules/${manifest.name}/dist/${holdsSandbox ? "sandbox/" : ""}main.js`;
  for (const name of globSync("**/*.{js,d.ts}", { cwd: dist })) {
    const file = join(dist, name);
    const text = asInstalled(readFileSync(file, "utf8")).replaceAll("npm run sandbox --", startOfSandbox);
    writeFileSync(
      file,
      holdsSandbox ? text.replaceAll(`"${sandboxName}/`, `"${manifest.name}/sandbox/`) : text,
    );
  }
  // Files that another compiler processes at run time.
  for (const file of globSync("**/*.java", { cwd: source, exclude: ["node_modules/**"] }))
    cpSync(join(source, file), join(dist, file));
  writeFileSync(join(staging, "README.md"), packedReadme(readFileSync(join(source, "README.md"), "utf8")));
  cpSync(join(repository, "LICENSE"), join(staging, "LICENSE"));
  const { [sandboxName]: _held, ...others } = needed;
  const all = holdsSandbox
    ? { ...others, ...fieldsOf(manifestOf(sandbox).dependencies, sandboxName) }
    : others;
  const packed = packedManifest({ ...manifest, ...(Object.keys(all).length > 0 && { dependencies: all }) });
  writeFileSync(join(staging, "package.json"), packed);
}

function compileTo(source: string, dist: string): void {
  const tsc = join(repository, "node_modules/.bin/tsc");
  // `npm run check` checks the types, which takes five times as long as to emit them.
  execFileSync(tsc, ["-p", source, "--noCheck", "--outDir", dist], { stdio: "inherit" });
}

function manifestOf(source: string) {
  return fieldsOf(JSON.parse(readFileSync(join(source, "package.json"), "utf8")), "package.json");
}

/** Removes commands for clones, and links out of the package. */
function packedReadme(text: string): string {
  const [ofPackage = ""] = text.split(/^## (?:In this repository|Scripts)/m);
  return `${ofPackage.replace(/\[[^\]]*\]\(\.\.\/\.\.\/([^)]*)\)/g, "`$1` in the repository of income-events").trim()}\n`;
}

/** Points exports at compiled files: the workspace exports its sources. */
function packedManifest(manifest: Readonly<Record<string, unknown>>): string {
  const { private: _private, scripts: _scripts, exports, ...kept } = manifest;
  const compiled = Object.entries(fieldsOf(exports, "exports")).map(([name, target]) => {
    const file = String(target).replace(/^\.\/(.*)\.ts$/, "./dist/$1");
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }];
  });
  return `${JSON.stringify({ ...kept, exports: Object.fromEntries(compiled) }, undefined, 2)}\n`;
}
