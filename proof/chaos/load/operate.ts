import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ChaosSystem } from "../system.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "../../../packages/cli/main.ts");

/**
 * Runs a command on the stage, as an operator does in AWS.
 * @throws with its output if it fails
 */
export async function operate({ stack }: ChaosSystem, args: readonly string[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "operator-"));
  const outputs = join(directory, "outputs.json");
  writeFileSync(outputs, JSON.stringify({ [stack.name]: stack.outputs }));
  const env = {
    PATH: process.env.PATH,
    AWS_ENDPOINT_URL: stack.gatewayUrl,
    AWS_REGION: stack.region,
    AWS_ACCESS_KEY_ID: stack.operator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: stack.operator.secretAccessKey,
  };
  try {
    await run(process.execPath, [program, ...args, "--outputs", outputs], { env });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
