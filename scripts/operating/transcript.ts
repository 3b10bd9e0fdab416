import { spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** What a command printed, both streams as a terminal shows them, and how it ended. */
export type Recorded = { readonly command: string; readonly output: string; readonly code: number | null };

/** Runs a command line of the operator's to its end. */
export function record(command: string): Promise<Recorded> {
  const child = spawn(process.execPath, [join(root, "packages", "cli", "main.ts"), ...command.split(" ")], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ command, output, code }));
  });
}
