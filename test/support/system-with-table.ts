import { afterAll, beforeAll } from "vitest";
import { startTestSystem, type TestSystem, type TestTable } from "./engines.ts";

/** What the tests of a suite share: a system with a table, closed after the last of them. */
export function systemWithTable(...given: Parameters<typeof startTestSystem>) {
  const made = {} as { system: TestSystem; table: TestTable };
  beforeAll(async () => {
    made.system = await startTestSystem(...given);
    made.table = await made.system.createTable();
  });
  afterAll(() => made.system.close());
  return made;
}
