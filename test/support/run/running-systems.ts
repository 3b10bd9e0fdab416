import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const prefix = join(tmpdir(), "running-systems-");

// One per test process and cached by modules: commands find only systems that the current file started, and
// nothing else on this machine.
if (process.env.INCOME_EVENTS_RUNNING?.startsWith(prefix) !== true)
  process.env.INCOME_EVENTS_RUNNING = mkdtempSync(prefix);
const directory = process.env.INCOME_EVENTS_RUNNING;

afterAll(() => {
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
});
