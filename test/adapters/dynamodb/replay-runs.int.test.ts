import { beforeEach, expect, test } from "vitest";
import { replayKey } from "../../../adapters/dynamodb/keys.ts";
import { type ReplayCheckpoint, replayRuns } from "../../../adapters/dynamodb/replay-runs.ts";
import type { ReplayRun } from "../../../domain/recovery/replay-run.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const run: ReplayRun = {
  id: "replay-1",
  version: 0,
  selection: { type: "account.*", since: "2026-02-01T00:00:00.000Z" },
  subject: { kind: "user", id: "user-1" },
  subscribers: ["ledger"],
  allTypes: true,
  rate: 20,
  counts: { examined: 3, messages: 2, pending: 1, sent: { ledger: 2 } },
};

await describeOnEachTable("a replay on its way", (tables) => {
  const made = systemWithTable(tables);
  let checkpoint: ReplayCheckpoint;
  beforeEach(async () => {
    made.table = await made.system.createTable();
    checkpoint = replayRuns(made.system.dynamodb, made.table.name, () => now)(run.id);
  });

  test("is there with all that it knows, step by step, for seven days, until it is done", async () => {
    expect(await checkpoint.load()).toBeUndefined();
    const first = await checkpoint.save(run);
    expect(first).toEqual({ ...run, version: 1 });
    const next = { ...run, version: 1, after: { pk: "USER#1", sk: "EVENT#1" } };
    await checkpoint.save(next);
    expect(await checkpoint.load()).toEqual({ ...next, version: 2 });
    const { pk, sk } = replayKey(run.id);
    expect(await made.table.item(pk, sk)).toMatchObject({ expiresAt: now.getTime() / 1000 + 7 * 86_400 });
    await checkpoint.remove();
    expect(await made.table.all()).toEqual([]);
  });

  test("is gone on with by one process: a step over another's is refused", async () => {
    const first = await checkpoint.save(run);
    expect(first).toBeDefined();
    expect(await checkpoint.save({ ...run, version: 1 })).toBeDefined();
    expect(await checkpoint.save({ ...run, version: 1 })).toBeUndefined();
    expect((await checkpoint.load())?.version).toBe(2);
  });
});
