import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Vitest's global setup: all that tests and their programs write for a while lies in one directory, which goes with the run. */
export default async function setup(): Promise<() => Promise<void>> {
  const before = tmpdir();
  const directory = await mkdtemp(join(before, "income-events-tests-"));
  process.env.TMPDIR = directory;
  return async () => {
    process.env.TMPDIR = before;
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
}
