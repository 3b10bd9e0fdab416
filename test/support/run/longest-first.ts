import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest files, which mostly wait: begun last, each would keep all others waiting at the end. */
const longest = ["test/e2e/alarms.test.ts", "test/e2e/storm.test.ts"];

/** The order in which vitest runs files: those that take minutes, then as it would have it. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rest = await super.sort(files);
    const first = longest.flatMap((name) => rest.filter(({ moduleId }) => moduleId.endsWith(`/${name}`)));
    return [...first, ...rest.filter((file) => !first.includes(file))];
  }
}
