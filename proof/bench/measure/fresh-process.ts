import { spawn } from "node:child_process";
import { join } from "node:path";
import { stripped } from "@income-events/local-stack/lambda/stripped.ts";
import { z } from "zod";

const once = join(import.meta.dirname, "import-once.ts");
const result = z.object({ millis: z.number(), residentBytes: z.number() });

/** What a fresh process took to import a bundle, and to answer its first event where one is given. */
export type FreshRun = z.output<typeof result>;

export type FreshProcess = {
  readonly file: string;
  readonly eventFile?: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** @throws with what the process said, where it fails */
export function runFresh({ file, eventFile = "", environment }: FreshProcess): Promise<FreshRun> {
  const args = ["--input-type=module", "--eval", stripped(once), file, eventFile];
  const child = spawn(process.execPath, args, {
    env: { ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(result.parse(JSON.parse(said.trim().split("\n").at(-1) ?? "")));
      else reject(new Error(`${file} ended with ${code}: ${said}`));
    });
  });
}
