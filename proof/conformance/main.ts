/**
 * Checks docs/reference/sandbox-conformance.md: each statement of both versions of the provider's interface has a row there, each row names
 * tests, and each of these tests exists, ran and passed. With `--listed` it runs none, and asks only that each exists and
 * is not skipped: `npm test` and `npm run proof` run them.
 */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { createVitest, type TestCase } from "vitest/node";
import { conformanceProblems, type TestResult } from "./problems.ts";
import { parseRows, parseStatements } from "./statements.ts";

const specifications = ["income-data-service.md", "income-data-service-0.5.md"];
const conformance = "docs/reference/sandbox-conformance.md";
const isListed = process.argv[2] === "--listed";

/** The sandbox's tests alone, without what the pipeline's need. @throws where a file can't be read */
async function testResults(): Promise<readonly TestResult[]> {
  const vitest = await createVitest("test", {
    config: false,
    watch: false,
    include: ["test/packages/sandbox/**/*.test.ts"],
    // No statement rests on these alone, and not every machine has a browser.
    exclude: ["test/packages/sandbox/**/*-browser.proof.test.ts"],
    testTimeout: 20_000,
    ...(isListed && { isolate: false, reporters: [] }),
  });
  try {
    const { testModules, unhandledErrors } = isListed
      ? await vitest.collect([], { staticParse: false })
      : await vitest.start();
    const errors = [...unhandledErrors, ...testModules.flatMap((module) => module.errors())];
    if (errors.length > 0) throw new AggregateError(errors, "the sandbox's tests can't be read");
    return testModules.flatMap((module) => [...module.children.allTests()].map(resultOf));
  } finally {
    await vitest.close();
  }
}

/** Of a test that is only listed: what would run counts as passed. */
function resultOf(test: TestCase): TestResult {
  const { mode = "run" } = test.options;
  const listed = mode === "run" ? "passed" : mode;
  const status = isListed ? listed : test.result().state;
  return { file: basename(test.module.moduleId), title: test.name, status };
}

const texts = specifications.map((name) => readFile(`docs/reference/provider/${name}`, "utf8"));
const statements = (await Promise.all(texts)).flatMap(parseStatements);
const rows = parseRows(await readFile(conformance, "utf8"));
const problems = conformanceProblems(statements, rows, await testResults());
for (const problem of problems) process.stderr.write(`${conformance}: ${problem}\n`);
process.stdout.write(`${statements.length} statements, ${rows.length} rows, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
