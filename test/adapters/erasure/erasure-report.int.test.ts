import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { keepReport, readReport } from "../../../adapters/erasure/erasure-report.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";

await describeOnTables("the report of an erasure", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  beforeEach(async () => {
    table = await system.createTable();
  });
  afterAll(() => system.close());

  const task = eraseTask({ kind: "user", id: "u" }, "operator", [], "followed");
  const keep = (isDone: boolean) =>
    keepReport(system.dynamodb, table.name, () => new Date("2026-11-24T00:00:00Z"))(task, isDone);
  const isDone = async () => (await readReport(system.dynamodb, table.name, "followed"))?.isDone;

  it("ends with its last step, also where a step before it reports later", async () => {
    await keep(false);
    expect(await isDone()).toBe(false);
    await keep(true);
    await keep(false);
    expect(await isDone()).toBe(true);
  });
});
