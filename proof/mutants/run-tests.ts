import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const reportSchema = z.object({
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })) }),
  ),
});

/** What test files say: all pass, one fails and which, or they can't be run at all. */
export type TestResult =
  | { readonly is: "passed" }
  | { readonly is: "failed"; readonly test: string }
  | { readonly is: "not run" };

/** Mutants are looked for while others use the machine, too: what is slow is not yet wrong. In milliseconds. */
const testTimeout = 180_000;

/** Runs test files of a copy of the project, until one test fails. */
export async function runTests(
  directory: string,
  files: readonly string[],
  signal?: AbortSignal,
): Promise<TestResult> {
  // Where vitest.config.ts says.
  const report = join(directory, ".local", "test-report.json");
  rmSync(report, { force: true });
  // The tests that every change runs: what only the proof tier notices is noticed late.
  const tiers = ["unit", "stages", "integration", "isolated"].flatMap((name) => ["--project", name]);
  const args = ["run", ...tiers, "--root", directory, "--bail", "1", "--testTimeout", String(testTimeout)];
  await new Promise<void>((resolve, reject) => {
    const vitest = join(directory, "node_modules", "vitest", "vitest.mjs");
    const child = spawn(process.execPath, [vitest, ...args, ...files], {
      cwd: directory,
      stdio: "ignore",
      ...(signal === undefined ? {} : { signal }),
    });
    child.once("error", reject);
    child.once("exit", () => resolve());
  });
  return resultOf(report);
}

function resultOf(report: string): TestResult {
  try {
    const { numPassedTests, testResults } = reportSchema.parse(JSON.parse(readFileSync(report, "utf8")));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.find(({ status }) => status === "failed");
    if (failed !== undefined) return { is: "failed", test: failed.fullName };
    return { is: numPassedTests > 0 ? "passed" : "not run" };
  } catch {
    return { is: "not run" };
  }
}
