import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import setup from "../support/run/temporary-directory.ts";

let outside: string;
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), "temporary-directory-"));
  vi.stubEnv("TMPDIR", outside);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(outside, { recursive: true });
});

it("gives all projects of a run one directory, so that paths in it stay short, and takes it away with the run", async () => {
  const endOfFirst = await setup();
  const directory = tmpdir();
  expect(dirname(directory)).toBe(outside);

  const endOfSecond = await setup();
  expect(tmpdir()).toBe(directory);

  await endOfSecond?.();
  expect(existsSync(directory)).toBe(true);
  await endOfFirst?.();
  expect(existsSync(directory)).toBe(false);
  expect(tmpdir()).toBe(outside);
});

it("gives a run that a test starts a directory of its own, which goes with that run and not with the test's", async () => {
  const otherRun = mkdtempSync(join(outside, `income-events-tests-${process.pid + 1}-`));
  vi.stubEnv("TMPDIR", otherRun);

  const end = await setup();
  const directory = tmpdir();
  expect(dirname(directory)).toBe(otherRun);

  await end?.();
  expect(existsSync(directory)).toBe(false);
  expect(existsSync(otherRun)).toBe(true);
});
