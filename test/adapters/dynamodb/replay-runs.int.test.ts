import { beforeEach, expect, test } from "vitest";
import { type AuditTrail, auditTrail } from "../../../adapters/dynamodb/audit-trail.ts";
import { auditKey, replayKey } from "../../../adapters/dynamodb/keys.ts";
import { type ReplayCheckpoint, replayRuns } from "../../../adapters/streams/checkpoint.ts";
import type { OperatorAct } from "../../../domain/recovery/operator-act.ts";
import type { ReplayRun } from "../../../domain/recovery/replay-run.ts";
import { describeOnEachTable, describeOnTables } from "../../support/engines.ts";
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

  test("is stored with its progress for seven days, or until it is done", async () => {
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

  test("is continued by one process: a concurrent step is refused", async () => {
    const first = await checkpoint.save(run);
    expect(first).toBeDefined();
    expect(await checkpoint.save({ ...run, version: 1 })).toBeDefined();
    expect(await checkpoint.save({ ...run, version: 1 })).toBeUndefined();
    expect((await checkpoint.load())?.version).toBe(2);
  });
});

const actAt = (at: string): OperatorAct => ({
  ...{ id: `id-of-${at}`, at, who: "arn:aws:iam::123456789012:user/ada" },
  ...{ act: "purge", target: "users", outcome: "begun" },
});
const [monday, tuesday] = ["2026-03-02T12:00:00.000Z", "2026-03-03T12:00:00.000Z"].map(actAt);
if (monday === undefined || tuesday === undefined) throw new Error("two acts");

await describeOnTables("the audit trail", (tables) => {
  const made = systemWithTable(tables);
  let trail: AuditTrail;
  beforeEach(async () => {
    made.table = await made.system.createTable();
    trail = auditTrail(made.system.dynamodb, made.table.name, 30);
  });
  const listed = async (since?: string) => Array.fromAsync(trail.list(since));

  test("lists acts newest first, all or since a time", async () => {
    await trail.begin(monday);
    await trail.begin(tuesday);
    expect(await listed()).toEqual([tuesday, monday]);
    expect(await listed("2026-03-03")).toEqual([tuesday]);
  });

  test("records the outcome and count of an act; an unfinished one stays begun", async () => {
    await trail.begin(monday);
    await trail.begin(tuesday);
    await trail.end(monday, "done", 3);
    expect(await listed()).toEqual([tuesday, { ...monday, outcome: "done", count: 3 }]);
    await trail.end(tuesday, "failed", undefined);
    expect(await listed()).toEqual([
      { ...tuesday, outcome: "failed" },
      { ...monday, outcome: "done", count: 3 },
    ]);
  });

  test("expires after the configured days, or never", async () => {
    await trail.begin(monday);
    await auditTrail(made.system.dynamodb, made.table.name, undefined).begin(tuesday);
    const expiryOf = async ({ at, id }: OperatorAct) =>
      (await made.table.item(auditKey(at, id).pk, auditKey(at, id).sk))?.expiresAt;
    expect(await expiryOf(monday)).toBe(Date.parse(monday.at) / 1000 + 30 * 86_400);
    expect(await expiryOf(tuesday)).toBeUndefined();
  });

  test("does not restore an act that has expired meanwhile", async () => {
    await expect(trail.end(monday, "done", 1)).rejects.toThrow();
    expect(await listed()).toEqual([]);
  });
});
