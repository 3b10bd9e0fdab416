import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The longest files; the first takes ten minutes by what it is to show, the next two mostly wait. Begun last, each would
 * keep all others waiting at the end.
 */
const longest = [
  "test/proof/console-memory.test.ts",
  "test/e2e/alarms.test.ts",
  "test/e2e/storm.test.ts",
  "test/e2e/chaos.test.ts",
  "test/examples/examples.test.ts",
  "test/proof/first-event.test.ts",
  "test/proof/package-managers.test.ts",
  "test/functions/erase/erasure-law.test.ts",
  "test/functions/erase/erasure-law-on-engines.test.ts",
  "test/proof/erasure-law.test.ts",
  "test/proof/erasure-law-further.test.ts",
  "test/proof/fuzz/run.test.ts",
  "test/scripts/check.test.ts",
];

/** The order in which vitest runs files: those that take minutes, then as it would have it. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rest = await super.sort(files);
    const first = longest.flatMap((name) => rest.filter(({ moduleId }) => moduleId.endsWith(`/${name}`)));
    return [...first, ...rest.filter((file) => !first.includes(file))];
  }
}
