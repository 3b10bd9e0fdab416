import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { findChromium } from "../packages/sandbox/browser.ts";

const chromium = findChromium();
const hasBrowser = chromium !== undefined || process.env.FORBID_SKIPS !== undefined;
const minutes = 10;
/** A busy machine starts late, and scrolls slowly through what came. */
const patienceMs = 3 * minutes * 60_000;
/** Less than that a second, and ten minutes would say little. The rest is what a busy machine has no time for. */
const fewestASecond = 5;

it.skipIf(!hasBrowser)(
  "keeps what server and page have in use flat while events come for ten minutes, up to 50 a second",
  async () => {
    const flags = ["--minutes", String(minutes), "--per-second", "50", "--rows", "1", "--dead-letters", "1"];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["proof/main.ts", "console", ...flags, "--runs", "1", "--chromium", chromium ?? ""],
      { cwd: join(import.meta.dirname, "../..") },
    );
    const [, sent] = /^ {2}(\d+) events in 10 minutes$/m.exec(stdout) ?? [];
    expect(Number(sent), stdout).toBeGreaterThan(minutes * 60 * fewestASecond);
    for (const name of ["memory-server-live", "memory-page"])
      expect(stdout).toMatch(new RegExp(`^${name} -?[\\d.]+ [\\d.]+ ok$`, "m"));
  },
  patienceMs,
);
