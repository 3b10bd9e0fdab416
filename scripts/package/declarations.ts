import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

/**
 * The declarations that `lib/index.ts` reaches, and no other.
 * @returns texts by their paths below `lib/`, `index.d.ts` first
 */
export function declarationsOf(repository: string): ReadonlyMap<string, string> {
  const all = mkdtempSync(join(tmpdir(), "income-events-declarations-"));
  try {
    const project = join(import.meta.dirname, "declarations.json");
    execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", project, "--outDir", all], {
      stdio: "inherit",
    });
    const lib = join(all, "lib");
    const waiting = [join(lib, "index.d.ts")];
    const done = new Map<string, string>();
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      const name = relative(lib, file);
      if (done.has(name)) continue;
      const text = readFileSync(file, "utf8");
      const from = dirname(file);
      done.set(name, text.replaceAll(/(from ")(\.[^"]*)\.ts(")/g, "$1$2.js$3"));
      waiting.push(
        ...[...text.matchAll(/from "(\.[^"]*)\.[jt]s"/g)].map(([, each = ""]) => join(from, `${each}.d.ts`)),
      );
    }
    return done;
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}
