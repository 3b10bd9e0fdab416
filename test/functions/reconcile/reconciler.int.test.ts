import { describe, expect, test } from "vitest";
import { checkpoint } from "../../../adapters/streams/checkpoint.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { describeOnTables } from "../../support/engines.ts";
import {
  day,
  factsOf,
  hour,
  missingAccounts,
  missingUsers,
  permits,
  reconcilerFixture,
} from "../support/reconciler-fixture.ts";

await describeOnTables("the reconciler", (tables) => {
  const fixture = reconcilerFixture(tables);
  const { tickOf, codes, calls, fed, learn, learnAll } = fixture;
  const keptRun = () => checkpoint(fixture.system.dynamodb, fixture.table.name).load();

  describe("a run", () => {
    test("sends what no webhook announced to the queues of the webhooks, and reports the drift", async () => {
      const announced = await fixture.sandbox.createUsers(2);
      await learnAll(announced);
      const missing = await fixture.sandbox.createUsers(3, { companyAccounts: 1 });

      await tickOf()();

      const envelopes = await fed();
      expect(factsOf(envelopes)).toEqual(
        expect.arrayContaining([...missingUsers(missing.users), ...missingAccounts(missing.accounts)]),
      );
      expect(envelopes).toHaveLength(6);
      expect(fixture.entries).toEqual([
        {
          code: "RECONCILED",
          correlationId: expect.stringMatching(/^reconciliation\.\d{4}-/),
          listed: 5,
          accounts: 5,
          missing: 6,
          conflicting: 0,
          orphaned: 0,
          deleted: 0,
          reread: 0,
          skipped: 0,
          drift: 6,
        },
      ]);
    });

    test("begins when webhooks were lost, after the time of grace, at most once an hour, and once for each", async () => {
      const tick = tickOf({ graceMinutes: 15 });
      await tick();
      const { users } = await fixture.sandbox.createUsers(1);
      const start = Date.now() + 2 * hour;
      const outcomes: string[] = [];
      for (const [minutes, event] of [
        [0, { lost: "users" }],
        [1, { lost: "users" }],
        [14, {}],
        [16, {}],
        [30, { lost: "accounts" }],
        [60, {}],
        [75, {}],
        [76, {}],
        [200, {}],
      ] as const) {
        fixture.time = start + minutes * 60_000;
        outcomes.push(`${minutes}: ${(await tick(60_000, event)).outcome}`);
      }
      expect(outcomes.filter((outcome) => !outcome.endsWith("not due"))).toEqual(["16: done", "76: done"]);
      expect(factsOf(await fed())).toEqual(expect.arrayContaining(missingUsers(users)));
      expect(await keptRun()).toMatchObject({ isScheduled: false });
    });

    test("compares only users if the settings have no path to their accounts", async () => {
      const { users } = await fixture.sandbox.createUsers(2);
      await tickOf({ provider: { paths: {} } })();
      expect(factsOf(await fed())).toEqual(expect.arrayContaining(missingUsers(users)));
      expect(calls().map(({ path }) => path)).toEqual(["/api/v0.4/users"]);
    });

    test("leaves what was created lately to its webhook", async () => {
      await fixture.sandbox.createUsers(1);
      fixture.time = Date.now();
      await tickOf({ graceMinutes: 15 })();
      expect(await fed()).toEqual([]);
      expect(fixture.entries).toMatchObject([{ code: "RECONCILED", listed: 1, drift: 0 }]);
      fixture.time += day;
      await tickOf({ graceMinutes: 15 })();
      expect(await fed()).toHaveLength(2);
    });

    test("sends an event for an account that is listed differently, and only counts an unlisted one", async () => {
      const announced = await fixture.sandbox.createUsers(3);
      await learnAll(announced);
      const [disconnected = "", gone = ""] = announced.accounts;
      fixture.sandbox.disconnectAccount(disconnected);
      fixture.sandbox.deleteAccount(gone);

      await tickOf()();

      expect(factsOf(await fed())).toEqual([
        {
          kind: "accounts",
          facts: expect.objectContaining({
            type: "account.updated",
            accountId: disconnected,
            connected: false,
          }),
        },
      ]);
      expect(fixture.entries).toMatchObject([{ code: "RECONCILED", conflicting: 1, orphaned: 1, drift: 2 }]);
    });

    test("restores nothing, and requests no accounts of a deleted user", async () => {
      const { users } = await fixture.sandbox.createUsers(1);
      const [id = ""] = users;
      await learn({ kind: "user", id }, "user.created");
      await fixture.known.reviseState(
        { kind: "user", id },
        (state) => state && { ...state, version: 2, deleted: true },
      );
      await tickOf()();
      expect(await fed()).toEqual([]);
      expect(calls(/accounts/)).toEqual([]);
      expect(fixture.entries).toMatchObject([{ code: "RECONCILED", deleted: 1, drift: 0 }]);
    });

    test("announces an account without new data once, and again after new data has become old", async () => {
      const announced = await fixture.sandbox.createUsers(2);
      await learnAll(announced);
      const [id = "", disconnected = ""] = announced.accounts;
      fixture.sandbox.disconnectAccount(disconnected);
      const since = fixture.time;
      const awaited = { endpoints: ["income"], deadline: since, readings: {}, since, stateVersion: 1 };
      for (const accountId of announced.accounts) {
        const subject: Subject = { kind: "account", id: accountId };
        const begun = { subject, version: 1, isConnected: true, isConfirmed: true, ...awaited };
        await fixture.readiness.update(subject, async () => begun);
      }
      const staleSince = async (days: number, accountId = id) => {
        fixture.time = since + days * day;
        await tickOf({ staleDays: 30 })();
        const item = await fixture.table.item(`ACCOUNT#${accountId}`, "READINESS");
        return item?.readiness;
      };
      expect(await staleSince(29)).not.toHaveProperty("stale");
      expect(await staleSince(31)).toMatchObject({ version: 2, stale: { version: 2, since } });
      expect(await staleSince(33)).toMatchObject({ version: 2 });
      await fixture.readAt({ kind: "account", id }, "income", since + 40 * day, "[]");
      expect(await staleSince(50)).toMatchObject({ version: 2 });
      expect(await staleSince(71)).toMatchObject({ version: 3, stale: { since: since + 40 * day } });
      expect(await staleSince(71, disconnected)).not.toHaveProperty("stale");
    });
  });

  describe("a tick", () => {
    test("ends when the time is nearly over, and the next continues after the last completed user", async () => {
      const { users, accounts } = await fixture.sandbox.createUsers(7);
      const tick = tickOf({ longestCallInMillis: 5_000 });
      for (let ticks = 1; ticks < 7; ticks += 1) {
        await tick(5_000);
        expect(codes()).toEqual([]);
        expect(calls(/accounts/)).toHaveLength(ticks);
        const kept = JSON.stringify(await keptRun());
        expect(kept).toContain('"after":');
        expect([...users, ...accounts].filter((id) => kept.includes(id))).toEqual([]);
      }
      await tick(5_000);
      expect(fixture.entries).toMatchObject([{ code: "RECONCILED", listed: 7, missing: 14 }]);
      const perUser = calls(/accounts/).map(({ path }) => path.split("/")[4]);
      expect(perUser).toEqual(users);
      expect(await fed()).toHaveLength(users.length + accounts.length);
    });

    test("ends when the rate is used up, and the next continues with the waiting user", async () => {
      const { users } = await fixture.sandbox.createUsers(12);
      // Each tick lists the users once, which leaves two calls.
      for (let ticks = 1; ticks < 6; ticks += 1) {
        await tickOf({ permit: permits(3).permit })();
        expect(fixture.entries).toHaveLength(ticks);
        expect(fixture.entries.at(-1)).toEqual({
          code: "RECONCILIATION_PAUSED",
          reason: "the provider's rate is used up",
        });
        expect(calls(/accounts/)).toHaveLength(2 * ticks);
      }
      await tickOf({ permit: permits(3).permit })();
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILED", listed: 12, missing: 24 });
      expect(calls(/accounts/).map(({ path }) => path.split("/")[4])).toEqual(users);
    });

    test("reports an overdue run after twice the time between runs, until the run ends", async () => {
      await fixture.sandbox.createUsers(1);
      for (const hours of [0, 47, 1]) {
        fixture.time += hours * hour;
        await tickOf({ permit: permits(0).permit })();
      }
      const overdue = ["RECONCILIATION_PAUSED", "RECONCILIATION_OVERDUE"];
      expect(codes()).toEqual(["RECONCILIATION_PAUSED", "RECONCILIATION_PAUSED", ...overdue]);
      await tickOf()();
      expect(codes().slice(4)).toEqual(["RECONCILED"]);
      // A stage that was stopped for a week starts its next run, which is not overdue.
      fixture.time += 7 * day;
      await tickOf()();
      expect(codes().slice(5)).toEqual(["RECONCILED"]);
    });

    test("that is killed at any call is completed by the next", async () => {
      const { accounts } = await fixture.sandbox.createUsers(2);
      await learnAll({ users: [], accounts: accounts.slice(1) });
      let killed = true;
      let cuts = 0;
      for (let survives = 0; killed; survives += 1) {
        // Each round is a new run, cut off one call to AWS later than the previous one.
        fixture.time += day;
        killed = false;
        let made = 0;
        const working = fixture.system.intercept(async (_, phase) => {
          if (phase !== "after") return undefined;
          made += 1;
          if (made <= survives) return undefined;
          killed = true;
          cuts = made;
          return "drop";
        });
        await tickOf()().catch(() => undefined);
        working();
        await tickOf()();
        const ids = new Set((await fed()).map(({ id }) => id));
        expect(ids.size, `cut off after ${survives} calls`).toBe(3);
        expect((await keptRun())?.endedAt).toBeDefined();
      }
      expect(cuts).toBeGreaterThan(10);
    });

    test("beside another one ends once the other has continued: the run is reported once", async () => {
      const { users } = await fixture.sandbox.createUsers(40);
      const ticks = [tickOf(), tickOf(), tickOf()];
      await Promise.all(ticks.map((tick) => tick()));
      // An overtaken tick leaves the run to another.
      await tickOf()();
      expect(codes().filter((code) => code === "RECONCILED")).toHaveLength(1);
      expect(fixture.entries.find(({ code }) => code === "RECONCILED")).toMatchObject({
        listed: 40,
        missing: 80,
      });
      const ids = (await fed()).map(({ id }) => id);
      expect(new Set(ids).size).toBe(2 * users.length);
    });
  });
});
