import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let root: string | undefined;

/** A directory for files of this run. What is still there when the process ends goes then, also after Ctrl-C. */
export function scratchDirectory(name: string): string {
  root ??= temporaryRoot();
  return mkdtempSync(join(root, `${name}-`));
}

function temporaryRoot(): string {
  const made = mkdtempSync(join(tmpdir(), "income-events-bench-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}
