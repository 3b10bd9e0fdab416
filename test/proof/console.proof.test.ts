import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { growthOf } from "../../proof/console/measure.ts";
import { findChromium } from "../packages/sandbox/browser.ts";

const chromium = findChromium();
const hasBrowser = chromium !== undefined || process.env.FORBID_SKIPS !== undefined;

it("says how much the last third takes more than the one before, whatever the start took", () => {
  expect(growthOf([1, 1, 10, 10, 10, 10])).toBeCloseTo(0);
  expect(growthOf([500, 500, 10, 10, 11, 11])).toBeCloseTo(0.1);
  expect(growthOf([5, 5, 10, 10, 5, 5])).toBeCloseTo(-0.5);
});

it.skipIf(!hasBrowser)("measures the console in a browser, and each figure has its goal", async () => {
  const flags = [
    "--minutes",
    "0.1",
    "--per-second",
    "5",
    "--rows",
    "2000",
    "--dead-letters",
    "1200",
    "--runs",
    "1",
  ];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["proof/main.ts", "console", ...flags, "--chromium", chromium ?? ""],
    { cwd: join(import.meta.dirname, "../..") },
  );
  for (const name of [
    "script-kilobytes",
    "first-page",
    "tail",
    "memory-server",
    "memory-server-live",
    "memory-page",
    "longest-frame",
    "dead-letters-page",
    "dead-letters-longest-frame",
    "dead-letter-opened",
  ])
    expect(stdout).toMatch(new RegExp(`^${name} -?[\\d.]+ [\\d.]+ (ok|short)$`, "m"));
  const sent = Number(/^ {2}(\d+) events in 0\.1 minutes$/m.exec(stdout)?.[1]);
  const sentAtSamples = [
    ...stdout.matchAll(/^ {2}after [\d.]+ minutes, (\d+) events: server \d+ MB, /gm),
  ].map(([, count]) => Number(count));
  expect(sentAtSamples.length).toBeGreaterThanOrEqual(3);
  expect(sentAtSamples.at(-1)).toBeGreaterThan(0);
  expect([...sentAtSamples, sent]).toEqual([...sentAtSamples, sent].toSorted((one, other) => one - other));
  expect(stdout).toMatch(/^ {2}2\d\d\d rows, read in /m);
  expect(stdout).toMatch(/^ {2}1200 dead letters, of which the page shows 1000: /m);
});
