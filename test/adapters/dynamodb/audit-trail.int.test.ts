import { beforeEach, expect, test } from "vitest";
import { type AuditTrail, auditTrail } from "../../../adapters/dynamodb/audit-trail.ts";
import { auditKey } from "../../../adapters/dynamodb/keys.ts";
import type { OperatorAct } from "../../../domain/recovery/operator-act.ts";
import { describeOnTables } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

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

  test("lists acts, the newest first, since a time or all", async () => {
    await trail.begin(monday);
    await trail.begin(tuesday);
    expect(await listed()).toEqual([tuesday, monday]);
    expect(await listed("2026-03-03")).toEqual([tuesday]);
  });

  test("keeps how an act ended and how many it was; one that never ended stays begun", async () => {
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

  test("expires after its days, or never where it has none", async () => {
    await trail.begin(monday);
    await auditTrail(made.system.dynamodb, made.table.name, undefined).begin(tuesday);
    const expiryOf = async ({ at, id }: OperatorAct) =>
      (await made.table.item(auditKey(at, id).pk, auditKey(at, id).sk))?.expiresAt;
    expect(await expiryOf(monday)).toBe(Date.parse(monday.at) / 1000 + 30 * 86_400);
    expect(await expiryOf(tuesday)).toBeUndefined();
  });

  test("does not bring back an act that has expired meanwhile", async () => {
    await expect(trail.end(monday, "done", 1)).rejects.toThrow();
    expect(await listed()).toEqual([]);
  });
});
