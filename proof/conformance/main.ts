/**
 * Checks docs/reference/sandbox-conformance.md: each statement of the provider's interface has a row there, each row names
 * tests, and each of these tests exists, ran and passed. Runs the sandbox's tests, or reads a report of vitest's JSON
 * reporter that is named on the command line. With `--listed` it runs none, and asks only that each exists and is not
 * skipped: `npm test` and `npm run proof` run them.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createVitest, startVitest, type TestCase, type TestUserConfig } from "vitest/node";
import { conformanceProblems } from "./problems.ts";
import { parseReport, type TestResult } from "./report.ts";
import { parseRows } from "./rows.ts";
import { parseStatements } from "./statements.ts";

const specification = "docs/reference/provider/income-data-service.md";
const conformance = "docs/reference/sandbox-conformance.md";

async function readResults(report: string): Promise<readonly TestResult[]> {
  return parseReport(JSON.parse(await readFile(report, "utf8")));
}

/** The sandbox's tests alone, without what the pipeline's need. */
const ofSandbox = {
  config: false,
  watch: false,
  include: ["test/packages/sandbox/**/*.test.ts"],
  // No statement rests on these alone, and not every machine has a browser.
  exclude: ["test/packages/sandbox/**/*-browser.proof.test.ts"],
  testTimeout: 20_000,
} satisfies TestUserConfig;

async function runTests(): Promise<readonly TestResult[]> {
  const directory = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const outputFile = join(directory, "report.json");
    const vitest = await startVitest("test", [], { ...ofSandbox, reporters: [["json", { outputFile }]] });
    await vitest.close();
    return await readResults(outputFile);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** What would run, as if it had passed. @throws where a file can't be read */
async function listTests(): Promise<readonly TestResult[]> {
  const vitest = await createVitest("test", { ...ofSandbox, isolate: false, reporters: [] });
  try {
    const { testModules, unhandledErrors } = await vitest.collect([], { staticParse: false });
    const errors = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())];
    if (errors.length > 0) throw new AggregateError(errors, "the sandbox's tests can't be read");
    return testModules.flatMap((module) => [...module.children.allTests()].map(resultOf));
  } finally {
    await vitest.close();
  }
}

function resultOf({ module, name, options }: TestCase): TestResult {
  const status = options.mode === "run" || options.mode === undefined ? "passed" : options.mode;
  return { file: basename(module.moduleId), title: name, status };
}

function resultsFrom(source: string | undefined): Promise<readonly TestResult[]> {
  if (source === undefined) return runTests();
  return source === "--listed" ? listTests() : readResults(source);
}

const [source] = process.argv.slice(2);
const statements = parseStatements(await readFile(specification, "utf8"));
const rows = parseRows(await readFile(conformance, "utf8"));
const results = await resultsFrom(source);
const problems = conformanceProblems(statements, rows, results);
for (const problem of problems) process.stderr.write(`${conformance}: ${problem}\n`);
process.stdout.write(`${statements.length} statements, ${rows.length} rows, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
