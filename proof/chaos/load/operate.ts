import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChaosSystem } from "../system.ts";

const program = join(import.meta.dirname, "../../../packages/cli/main.ts");

/**
 * Runs a command on the stage, as an operator does in AWS.
 * @throws with its output if it fails
 */
export async function operate({ stack }: Pick<ChaosSystem, "stack">, args: readonly string[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "operator-"));
  const outputs = join(directory, "outputs.json");
  writeFileSync(outputs, JSON.stringify({ [stack.name]: stack.outputs }));
  const child = spawn(process.execPath, [program, ...args, "--outputs", outputs], {
    env: {
      PATH: process.env.PATH,
      AWS_ENDPOINT_URL: stack.gatewayUrl,
      AWS_REGION: stack.region,
      AWS_ACCESS_KEY_ID: stack.operator.accessKeyId,
      AWS_SECRET_ACCESS_KEY: stack.operator.secretAccessKey,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  rmSync(directory, { recursive: true, force: true });
  if (code !== 0) throw new Error(`income-events ${args.join(" ")}: ${said.trim()}`);
}
