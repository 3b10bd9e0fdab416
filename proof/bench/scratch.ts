import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let root: string | undefined;

/** Creates a directory for the run's files, deleted when the process exits, including after Ctrl-C. */
export function scratchDirectory(name: string): string {
  if (root === undefined) {
    const made = mkdtempSync(join(tmpdir(), "income-events-bench-"));
    process.on("exit", () => rmSync(made, { recursive: true, force: true }));
    root = made;
  }
  return mkdtempSync(join(root, `${name}-`));
}
