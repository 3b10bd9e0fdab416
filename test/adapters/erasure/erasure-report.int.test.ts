import { beforeEach, expect, it } from "vitest";
import { readReport, reportWriter, type StepOutcome } from "../../../adapters/erasure/tombstones.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import { describeOnTables } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

await describeOnTables("the report of an erasure", (tables) => {
  const made = systemWithTable(tables);
  beforeEach(async () => {
    made.table = await made.system.createTable();
  });

  const task = eraseTask({ kind: "user", id: "u" }, "operator", [], "followed");
  const keep = (outcome: StepOutcome) =>
    reportWriter(
      made.system.dynamodb,
      made.table.name,
      () => new Date("2026-11-24T00:00:00Z"),
    )(task, outcome);
  const isDone = async () => (await readReport(made.system.dynamodb, made.table.name, "followed"))?.isDone;

  it("ends with its last step, even if an earlier step reports later", async () => {
    await keep("going on");
    expect(await isDone()).toBe(false);
    await keep("done");
    await keep("going on");
    expect(await isDone()).toBe(true);
  });
});
