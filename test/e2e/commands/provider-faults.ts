import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orphans } from "../../../adapters/dynamodb/orphans.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { checkpoint } from "../../../adapters/streams/checkpoint.ts";
import { applyEvent, applyProviderAnswer } from "../../../domain/state/state.ts";
import { eventOf } from "../../domain/samples.ts";
import { waitUntilIdle } from "../../support/eventually.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";

/** Commands while the provider forgets accounts or refuses calls. */
export function describeProviderFaults(use: () => OperatedStage): void {
  describe("faults of the provider", () => {
    let table: DynamoDBClient;
    let users: readonly string[];
    let accounts: readonly string[];
    beforeAll(async () => {
      table = new DynamoDBClient(use().system.access);
      ({ users, accounts } = await use().system.sandbox.createUsers(6));
      await waitUntilIdle(use().system);
    });
    afterAll(() => table.destroy());

    const json = (...args: readonly string[]) => use().json(...args);
    const tableName = () => use().output("TableName");
    const found = () => orphans(table, tableName());
    const acts = async () => JSON.stringify(await json("audit", "list"));
    /** A scheduled reconciliation, from start to end. */
    const runScheduled = async () => {
      const { schedules } = use().system.stack;
      const rule = schedules.names.find((name) => name.includes("ReconcileSchedule")) ?? "";
      const place = checkpoint(table, tableName());
      const known = await place.load();
      if (known !== undefined) await place.save({ ...known, startedAt: "2026-01-01T00:00:00.000Z" });
      await expect
        .poll(async () => {
          await schedules.fire(rule);
          const run = await place.load();
          return run?.isScheduled === true && run.endedAt !== undefined;
        })
        .toBe(true);
      return place.load();
    };

    it("are made by sandbox fail forget, and end by themselves", async () => {
      const { sandbox } = use().system;
      const authorization = `Bearer ${sandbox.token}`;
      const ask = (path: string) =>
        fetch(`${sandbox.baseUrl}/api/v0.4/${path}`, { headers: { authorization } });
      const list = async () => (await ask(`users/${users[0]}/accounts`)).json();
      expect(await list()).toHaveLength(1);
      await json("sandbox", "fail", "forget", "--for", "3s");
      expect(await list()).toEqual([]);
      expect((await ask(`accounts/${accounts[0]}`)).status).toBe(404);
      await expect.poll(list, { timeout: 10_000 }).toHaveLength(1);
    });

    it("leave deletions that an operator can accept once", async () => {
      expect(await json("reconcile", "accept-deletions")).toMatchObject({ accepted: 0 });
      const run = await runScheduled();
      const [userId = "", accountId = ""] = [users[0], randomUUID()];
      const lastRun = run?.startedAt ?? "";
      await found().saveMark({ accountId, userId, version: 1, first: "2026-01-01T00:00:00.000Z", lastRun });
      expect((await use().run(["reconcile", "accept-deletions"])).stdout).toMatch(/^Accepted 1 deletion\./);
      expect(await acts()).toContain('"target":"deletions"');
      expect(await found().deletions()).toMatchObject([{ accountId }]);
      expect((await use().run(["reconcile", "accept-deletions"])).stdout).toBe(
        "No deletion waits to be accepted.\n",
      );
      // Nothing was reported: the deletion is dropped, and the account is unchanged.
      expect(await json("reconcile", "undelete", "--all")).toMatchObject({
        restored: 0,
        others: [accountId],
      });
      expect(await found().deletions()).toEqual([]);
    });

    it("are undone by reconcile undelete, which notifies subscribers, and lists whom it skipped", async () => {
      const [, id = "", alive = ""] = accounts;
      const subject = { kind: "account", id } as const;
      const { reviseState: change } = versionedRecords(table, tableName());
      const deletion = eventOf("account.deleted", { accountId: id, reconciled: true });
      await change(subject, (state) => applyEvent(state, deletion, 1));
      await change(subject, (state) =>
        applyProviderAnswer(state, state?.version ?? 0, { found: false }, { at: new Date() }),
      );
      await waitUntilIdle(use().system);
      const stateOf = async () => (await json("records", "show", "account", id)).state;
      expect(await stateOf()).toMatchObject({ deleted: true });

      expect(await use().run(["reconcile", "undelete"])).toMatchObject({ code: 2 });
      expect(await use().run(["reconcile", "undelete", id, "--all"])).toMatchObject({ code: 2 });
      expect(await use().run(["reconcile", "undelete", alive])).toMatchObject({ code: 4 });
      expect(await json("reconcile", "undelete", id, alive)).toEqual({
        stage: "status",
        restored: 1,
        others: [alive],
        underWay: [],
      });

      await waitUntilIdle(use().system);
      expect(await stateOf()).toMatchObject({ deleted: false });
      expect(await acts()).toContain('"target":"undelete"');
    });

    it("that refuse many calls in a row are shown as a provider that is down, until it answers again", async () => {
      const { sandbox } = use().system;
      sandbox.fault({ status: 403, share: 1 });
      for (const account of accounts) sandbox.fetchData(account, ["income"]);
      const breaker = async () => (await json("status", "--section", "provider")).breaker;
      await expect.poll(breaker, { timeout: 30_000 }).toMatchObject({ state: "open" });
      expect((await breaker()).timesDown).toBeGreaterThan(0);
      const { stdout } = await use().run(["doctor", "--json"]);
      expect(stdout).toContain('"provider-down"');
      sandbox.clearFaults();
      await expect.poll(breaker, { timeout: 30_000 }).toMatchObject({ state: "closed" });
      await waitUntilIdle(use().system);
      expect(
        (await json("status")).queues.find(({ name }: { name: string }) => name === "fetch"),
      ).toMatchObject({
        deadLetters: 0,
      });
    });
  });
}
