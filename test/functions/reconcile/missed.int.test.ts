import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { retryable } from "../../../domain/core/failures.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { describeOnTables } from "../../support/engines.ts";
import { day, factsOf, hour, reconcilerFixture } from "../support/reconciler-fixture.ts";

const minute = 60_000;

await describeOnTables("a reconciliation that begins by itself", (tables) => {
  const fixture = reconcilerFixture(tables);
  const { tickOf, codes, fed, learnAll } = fixture;

  /** The scheduled run was an hour ago, and webhooks failed from 12 to 2 minutes ago. */
  async function afterFailures(): Promise<{ readonly from: number; readonly until: number }> {
    await tickOf()();
    await fed();
    fixture.entries.length = 0;
    fixture.time = (Math.floor(fixture.time / minute) + 60) * minute;
    const [from, until] = [fixture.time - 12 * minute, fixture.time - 2 * minute];
    fixture.received = {
      unanswered: new Map([
        [from, 2],
        [until - minute, 1],
      ]),
      accepted: new Map(),
    };
    return { from, until };
  }
  const isoOf = (time: number) => new Date(time).toISOString();

  test("makes up for lost users and accounts once the receivers work again, also for those created lately", async () => {
    const { from, until } = await afterFailures();
    const { users } = await fixture.sandbox.createUsers(2);
    expect(users).toHaveLength(2);
    const tick = tickOf({ graceMinutes: 90 });
    fixture.time -= minute;
    expect(await tick()).toEqual({ outcome: "not due" });
    fixture.time += minute;
    expect(await tick()).toEqual({ outcome: "done", listed: 2, drift: 4 });
    expect(fixture.entries).toMatchObject([
      { code: "WEBHOOKS_MAY_BE_LOST", from: isoOf(from), until: isoOf(until) },
      { code: "RECONCILED", missing: 4 },
    ]);
    expect(await fed()).toHaveLength(4);
  });

  test("begins at most once in 15 minutes, and never again for the same failures", async () => {
    const { until } = await afterFailures();
    const tick = tickOf();
    const outcomes = [(await tick()).outcome];
    const unanswered = new Map([...fixture.received.unanswered, [until + 3 * minute, 3]]);
    fixture.received = { unanswered, accepted: new Map() };
    for (let minutes = 5; minutes <= 30; minutes += 5) {
      fixture.time += 5 * minute;
      outcomes.push((await tick()).outcome);
    }
    expect(outcomes).toEqual(["done", "not due", "not due", "done", "not due", "not due", "not due"]);
  });

  test("does not affect the schedule, and reports no deletions", async () => {
    await afterFailures();
    const announced = await fixture.sandbox.createUsers(1);
    await learnAll(announced);
    fixture.sandbox.deleteAccount(announced.accounts[0] ?? "");
    const tick = tickOf();
    expect(await tick()).toMatchObject({ outcome: "done", drift: 1 });
    fixture.time += day - 2 * hour;
    expect(await tick()).toEqual({ outcome: "not due" });
    fixture.time += hour + minute;
    expect(await tick()).toMatchObject({ outcome: "done" });
    expect(codes()).not.toContain("DELETIONS_FOUND");
  });

  test("is merged with a due run, which does not wait for CloudWatch", async () => {
    await afterFailures();
    fixture.time += day - hour;
    fixture.received = { unanswered: new Map([[fixture.time - 5 * minute, 3]]), accepted: new Map() };
    const receivingCounts = () => Promise.reject(retryable("CloudWatch does not tell"));
    expect(await tickOf()()).toMatchObject({ outcome: "done" });
    expect(codes()).toEqual(["WEBHOOKS_MAY_BE_LOST", "RECONCILED"]);
    fixture.time += day;
    fixture.received = { unanswered: new Map([[fixture.time - 5 * minute, 3]]), accepted: new Map() };
    expect(await tickOf({ receivingCounts })()).toMatchObject({ outcome: "done" });
    expect(await tickOf()()).toMatchObject({ outcome: "done" });
    expect(await tickOf()()).toEqual({ outcome: "not due" });
  });

  test("waits for the next tick if CloudWatch does not answer", async () => {
    await afterFailures();
    const receivingCounts = () => Promise.reject(retryable("CloudWatch does not tell"));
    const reason = "CloudWatch does not tell";
    expect(await tickOf({ receivingCounts })()).toEqual({ outcome: "paused", reason });
    expect(await tickOf()()).toMatchObject({ outcome: "done" });
  });

  describe("reads data again whose news may be lost", () => {
    /** Endpoints to read, by account. */
    const tasks = async () =>
      (await fixture.tasks())
        .flatMap((task) => (task.type === "fetchDocument" ? [`${task.subject.id} ${task.endpoint}`] : []))
        .sort();
    const read = (id: string, endpoint: string, asOf: number, kind: Subject["kind"] = "account") =>
      fixture.readAt({ kind, id }, endpoint, asOf);

    test("of accounts that are connected: what was read before the end, and what they should have", async () => {
      const { until } = await afterFailures();
      const announced = await fixture.sandbox.createUsers(3);
      await learnAll(announced);
      const [first = "", second = "", disconnected = ""] = announced.accounts;
      fixture.sandbox.disconnectAccount(disconnected);
      await read(first, "income", until - 1);
      await read(first, "trips", until - hour);
      await read(first, "profile", until);
      await read(second, "income", until + 1);
      await read(disconnected, "income", until - 1);
      await tickOf()();
      expect(await tasks()).toEqual([`${first} income`, `${first} trips`, `${second} profile`].sort());
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILED", reread: 3 });
    });

    test("of known company accounts, which the provider does not list, with their states, tick by tick", async () => {
      const { until } = await afterFailures();
      const announced = await fixture.sandbox.createUsers(1, { accountsPerUser: 0, companyAccounts: 3 });
      await learnAll(announced);
      const [disconnected = "", connected = "", unheardOf] = announced.companyAccounts;
      const gone = randomUUID();
      for (const id of [disconnected, connected, gone])
        await fixture.learn({ kind: "company-account", id }, "company-account.connected");
      fixture.sandbox.disconnectAccount(disconnected);
      await read(connected, "trips", until - 1, "company-account");
      await read(connected, "income", until, "company-account");
      await read(disconnected, "income", until - 1, "company-account");

      const tick = tickOf();
      const outcomes: string[] = [];
      while (outcomes.at(-1) !== "done") outcomes.push((await tick(0)).outcome);
      expect(outcomes).toEqual(["goes on", "goes on", "goes on", "done"]);
      expect(factsOf(await fed())).toEqual([
        {
          kind: "company-accounts",
          facts: { type: "company-account.updated", companyAccountId: disconnected, connected: false },
        },
      ]);
      expect(await tasks()).toEqual([`${connected} profile`, `${connected} trips`]);
      expect(fixture.entries.at(-1)).toMatchObject({
        code: "RECONCILED",
        listed: 1,
        conflicting: 1,
        reread: 2,
      });
      expect(fixture.calls(new RegExp(`${unheardOf}`))).toEqual([]);
    });

    test("but not of accounts that were not updated since, where the settings say how to see that", async () => {
      const announced = await fixture.sandbox.createUsers(1);
      await learnAll(announced);
      const { from } = await afterFailures();
      const [account = ""] = announced.accounts;
      await read(account, "income", from - day);
      await tickOf({ updatedAt: "updated_at" })();
      expect(await tasks()).toEqual([]);
      fixture.time += 15 * minute;
      const later = fixture.time - 3 * minute;
      fixture.received = { unanswered: new Map([[later, 3]]), accepted: new Map() };
      await tickOf({ updatedAt: "'2126-01-01T00:00:00.123456789Z'" })();
      expect(await tasks()).toEqual([`${account} income`, `${account} profile`]);
    });
  });
});
