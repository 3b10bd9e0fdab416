/**
 * Looks for folders and files that have grown too large to find one's way in. `--help` lists the options.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { layoutProblems } from "./layout.ts";

const { root } = new Command("node scripts/layout/main.ts")
  .description("Looks for folders and files that have grown too large, and says what to do about each.")
  .option("--root <folder>", "of the repository that is looked at", join(import.meta.dirname, "../.."))
  .parse()
  .opts<{ readonly root: string }>();

const problems = layoutProblems(filesIn(root));
for (const line of problems) process.stderr.write(`${line}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** What is tracked, or new and not ignored; what is deleted and still tracked is left out. */
function filesIn(folder: string) {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const output = execFileSync("git", listing, { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1_048_576 });
  return [...new Set(output.split("\0"))]
    .toSorted()
    .filter((path) => path !== "" && existsSync(join(folder, path)))
    .map((path) => ({ path, text: readFileSync(join(folder, path), "utf8") }));
}
