/**
 * Checks docs/reference/sandbox-conformance.md: each statement of the provider's interface has a row there, each row names
 * tests, and each of these tests exists, ran and passed. Runs the sandbox's tests, or reads a report of vitest's JSON
 * reporter that is named on the command line.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startVitest } from "vitest/node";
import { conformanceProblems } from "./problems.ts";
import { parseReport, type TestResult } from "./report.ts";
import { parseRows } from "./rows.ts";
import { parseStatements } from "./statements.ts";

const specification = "docs/reference/provider/income-data-service.md";
const conformance = "docs/reference/sandbox-conformance.md";

async function readResults(report: string): Promise<readonly TestResult[]> {
  return parseReport(JSON.parse(await readFile(report, "utf8")));
}

/**
 * Runs the sandbox's tests alone, without what the pipeline's need. Those in a browser are left out: no statement
 * rests on them alone, and not every machine has one.
 */
async function runTests(): Promise<readonly TestResult[]> {
  const directory = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const outputFile = join(directory, "report.json");
    const vitest = await startVitest("test", [], {
      config: false,
      watch: false,
      include: ["test/packages/sandbox/**/*.test.ts"],
      exclude: ["test/packages/sandbox/**/*-browser.test.ts"],
      testTimeout: 20_000,
      reporters: [["json", { outputFile }]],
    });
    await vitest.close();
    return await readResults(outputFile);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const [report] = process.argv.slice(2);
const statements = parseStatements(await readFile(specification, "utf8"));
const rows = parseRows(await readFile(conformance, "utf8"));
const results = report === undefined ? await runTests() : await readResults(report);
const problems = conformanceProblems(statements, rows, results);
for (const problem of problems) process.stderr.write(`${conformance}: ${problem}\n`);
process.stdout.write(`${statements.length} statements, ${rows.length} rows, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
