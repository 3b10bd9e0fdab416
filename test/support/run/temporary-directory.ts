import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

// Named by process: a run within a test has its own, which ends with it.
const prefix = `income-events-tests-${process.pid}-`;

/**
 * Vitest's global setup: puts temporary files of tests and their programs into one directory, deleted with
 * the run. Each project of a run calls it. A nested directory would be too long for a browser's socket path
 * (107 characters).
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const before = tmpdir();
  if (basename(before).startsWith(prefix)) return undefined;
  const directory = await mkdtemp(join(before, prefix));
  process.env.TMPDIR = directory;
  return async () => {
    process.env.TMPDIR = before;
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
}
