import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/program.ts";

const repository = join(import.meta.dirname, "../..");
const vitest = join(repository, "node_modules/vitest/vitest.mjs");
const held = z.object({ processes: z.array(z.number()), addresses: z.array(z.url()), folder: z.string() });

test("A failed test leaves no process, port or folder behind, whether it closes its stack or not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "failed-test-"));
  try {
    const file = join(directory, "held");
    const args = [vitest, "run", "--config", "test/support/failing/vitest.config.ts", "--no-color"];
    const environment = { ...process.env, INCOME_EVENTS_HELD: file };
    const run = promisify(execFile)(process.execPath, args, { cwd: repository, env: environment });
    await expect(run).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Tests\s+2 failed \(2\)/),
    });
    const tests = readFileSync(file, "utf8").trim().split("\n");
    expect(tests).toHaveLength(2);
    for (const { processes, addresses, folder } of tests.map((text) => held.parse(JSON.parse(text)))) {
      // Vitest's worker, the table engine and a function at least.
      expect(processes.length).toBeGreaterThanOrEqual(3);
      await eventually(() => expect(processes.filter(isAlive)).toEqual([]));
      expect(addresses).toHaveLength(3);
      for (const address of addresses) await expect(fetch(address)).rejects.toThrow("fetch failed");
      expect(existsSync(folder)).toBe(false);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
