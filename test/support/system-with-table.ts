import { afterAll, beforeAll } from "vitest";
import { startTestSystem, type TestSystem, type TestTable } from "./engines.ts";

/** A system with a table for a suite, closed after its last test. */
export function systemWithTable(...given: Parameters<typeof startTestSystem>) {
  const made = {} as { system: TestSystem; table: TestTable };
  beforeAll(async () => {
    made.system = await startTestSystem(...given);
    made.table = await made.system.createTable();
  });
  afterAll(() => made.system.close());
  return made;
}
