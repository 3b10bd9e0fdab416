import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LocalStack } from "./stack.ts";

/** Where commands look for systems that stay up on this machine. Tests name a directory of their own. */
const runningSystemsDirectory =
  process.env.INCOME_EVENTS_RUNNING ?? join(import.meta.dirname, "../../.local/running");

/**
 * Writes a file that tells commands where a system is and how to use it; its credentials are worth nothing else.
 * @returns takes the file away again
 */
export function announce(stack: LocalStack): () => void {
  const { name, region, gatewayUrl: endpoint, outputs } = stack;
  const { accessKeyId, secretAccessKey } = stack.operator;
  const file = join(runningSystemsDirectory, `${name}-${process.pid}.json`);
  const content = {
    pid: process.pid,
    stack: name,
    region,
    endpoint,
    credentials: { accessKeyId, secretAccessKey },
    outputs,
  };
  mkdirSync(runningSystemsDirectory, { recursive: true });
  // Renamed into place, so that nobody reads half of it.
  const draft = `${file}.draft`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return () => rmSync(file, { force: true });
}
