import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

// Packs the subscriber's package: JavaScript and types, since Node strips no types below node_modules.
const repository = join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { to: { type: "string", default: join(repository, ".local") } } });
const staging = join(values.to, "subscriber");
const source = join(repository, "subscriber");

rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
const tsc = join(repository, "node_modules", ".bin", "tsc");
execFileSync(tsc, ["-p", source, "--outDir", join(staging, "dist")], { stdio: "inherit" });
for (const file of ["package.json", "README.md"]) cpSync(join(source, file), join(staging, file));
cpSync(join(repository, "LICENSE"), join(staging, "LICENSE"));
execFileSync("npm", ["pack", staging, "--pack-destination", values.to], {
  stdio: ["ignore", "inherit", "ignore"],
});
