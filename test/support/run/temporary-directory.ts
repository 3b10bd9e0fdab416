import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

// The process says whose the directory is: a run within a test has its own, which ends with it.
const prefix = `income-events-tests-${process.pid}-`;

/**
 * Vitest's global setup: all that tests and their programs write for a while lies in one directory, which goes with the run.
 * Each project of a run calls it. One within the other would be too long for the path of a browser's socket (107 characters).
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
