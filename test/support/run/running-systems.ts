import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const prefix = join(tmpdir(), "running-systems-");

// One for each process of tests, which keeps what modules have read of it: commands find what the file started that is
// under way, and nothing that runs on this machine beside it.
if (process.env.INCOME_EVENTS_RUNNING?.startsWith(prefix) !== true)
  process.env.INCOME_EVENTS_RUNNING = mkdtempSync(prefix);
const directory = process.env.INCOME_EVENTS_RUNNING;

afterAll(() => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
});
