import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fieldsOf } from "../domain/core/parse.ts";
import { buildPackage } from "./package/build.ts";
import { asInstalled } from "./package/installed-texts.ts";

// Packs the construct (cdk) and the workspaces as JavaScript and types, since Node strips no types below node_modules: all
// that are named, or all.
const repository = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { to: { type: "string", default: join(repository, ".local/packages") } },
  allowPositionals: true,
});
const packages = positionals.length > 0 ? positionals : ["cdk", "subscriber", "sandbox", "local-stack"];
for (const name of packages) {
  const staging = join(values.to, name);
  if (name === "cdk") await buildPackage(staging);
  else compile(join(repository, "packages", name), staging);
  execFileSync("npm", ["pack", staging, "--pack-destination", values.to], {
    stdio: ["ignore", "inherit", "ignore"],
  });
}

/** @param staging is made again: what the file holds, which can be run from there too */
function compile(source: string, staging: string): void {
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  const tsc = join(repository, "node_modules/.bin/tsc");
  execFileSync(tsc, ["-p", source, "--outDir", join(staging, "dist")], { stdio: "inherit" });
  for (const file of globSync("**/*.js", { cwd: join(staging, "dist") }).map((name) =>
    join(staging, "dist", name),
  ))
    writeFileSync(file, asInstalled(readFileSync(file, "utf8")));
  // What another compiler makes when it is needed.
  for (const file of globSync("**/*.java", { cwd: source, exclude: ["node_modules/**"] }))
    cpSync(join(source, file), join(staging, "dist", file));
  cpSync(join(source, "README.md"), join(staging, "README.md"));
  cpSync(join(repository, "LICENSE"), join(staging, "LICENSE"));
  writeFileSync(
    join(staging, "package.json"),
    packedManifest(readFileSync(join(source, "package.json"), "utf8")),
  );
}

/** The workspace exports its sources; the package what was compiled of them. */
function packedManifest(text: string): string {
  const {
    private: _private,
    scripts: _scripts,
    exports,
    ...kept
  } = fieldsOf(JSON.parse(text), "package.json");
  const compiled = Object.entries(fieldsOf(exports, "exports")).map(([name, target]) => {
    const file = String(target).replace(/^\.\/(.*)\.ts$/, "./dist/$1");
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }];
  });
  return `${JSON.stringify({ ...kept, exports: Object.fromEntries(compiled) }, undefined, 2)}\n`;
}
