import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

// Each file's own: its commands find what it started, and nothing that runs on this machine beside it.
const directory = mkdtempSync(join(tmpdir(), "running-systems-"));
process.env.INCOME_EVENTS_RUNNING = directory;

afterAll(() => rmSync(directory, { recursive: true, force: true }));
