import { randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, test } from "vitest";
import type { Subject } from "../../../domain/event/subjects.ts";
import { describeOnTables } from "../../support/engines.ts";
import {
  accountsPath,
  day,
  factsOf,
  hour,
  missingAccounts,
  missingUsers,
  permits,
  reconcilerFixture,
} from "../support/reconciler-fixture.ts";

let largeLists = 0;

/** Heap size after a garbage collection. */
function heapInMegabytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

await describeOnTables("the reconciler", (tables) => {
  const fixture = reconcilerFixture(tables);
  const { tickOf, scripted, codes, calls, fed, learnAll, readAt, tasks } = fixture;

  describe("a list in pages", () => {
    const paged = (items: number) => ({
      paths: { userAccounts: accountsPath },
      paging: { pageSize: { items } },
    });

    test("of users or accounts is read page by page, and a tick continues within a page", async () => {
      const { users, accounts } = await fixture.sandbox.createUsers(8, { accountsPerUser: 4 });
      const tick = tickOf({ provider: paged(3), longestCallInMillis: 5_000 });
      for (let ticks = 0; ticks < 7; ticks += 1) await tick(5_000);
      expect(codes()).toEqual([]);
      await tick(5_000);
      expect(fixture.entries).toMatchObject([{ code: "RECONCILED", listed: 8, missing: 8 + 32 }]);
      // Each tick handles one user: a request for that user's page, and two for pages of accounts.
      const firstOfPage = calls(/users$/).map(({ answer }) => /"id":"([^"]+)"/.exec(answer)?.[1]);
      expect(firstOfPage).toEqual([0, 0, 0, 3, 3, 3, 6, 6].map((index) => users[index]));
      expect(calls(/accounts$/)).toHaveLength(16);
      const messages = await fed();
      expect(factsOf(messages)).toEqual(
        expect.arrayContaining([...missingUsers(users), ...missingAccounts(accounts)]),
      );
      expect(messages).toHaveLength(40);
    });

    test("with an expired cursor ends the run, and the next run begins at the first page", async () => {
      await fixture.sandbox.createUsers(4);
      const tick = tickOf({ provider: paged(2), longestCallInMillis: 5_000 });
      // The page has two users; the second tick turns it.
      for (let ticks = 0; ticks < 2; ticks += 1) await tick(5_000);
      fixture.sandbox.fault({ path: "/users$", status: 400, times: 1 });
      await expect(tick()).rejects.toThrow("the provider answered 400");
      fixture.time += day;
      await tick();
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILED", listed: 4 });
    });

    // Memory usage does not depend on the engine, and many users take long.
    largeLists += 1;
    if (largeLists === 1)
      test("of 1,000 users and 100 MB is kept in memory a page at a time", async () => {
        const pages = 10;
        const heaps: number[] = [];
        const remote = await scripted(({ path }) => {
          heaps.push(heapInMegabytes());
          const page = Number(new URL(path, "http://provider").searchParams.get("cursor") ?? 0);
          const data = Array.from({ length: 100 }, (_, index) => ({
            id: `u-${page}-${index}`,
            padding: "x".repeat(100_000),
          }));
          return { json: { data, next: page < pages - 1 ? page + 1 : null } };
        });
        await tickOf({ baseUrl: remote.url, ids: "any", provider: { paths: {} } })();
        expect(fixture.entries).toMatchObject([{ code: "RECONCILED", listed: 1_000, missing: 1_000 }]);
        expect(heaps).toHaveLength(pages);
        expect(Math.max(...heaps) - (heaps[0] ?? 0)).toBeLessThan(60);
      });
  });

  test("a list of interface 0.5 is read from `data`, and its size does not matter", async () => {
    const [one, two, account] = [randomUUID(), randomUUID(), randomUUID()];
    const remote = await scripted(({ path }) => {
      const owned = path.includes(one) ? [{ id: account, user_id: one, connected: true }] : [];
      const data = path.endsWith("/users") ? [{ id: one }, { id: two }] : owned;
      return { json: { data, size: data.length } };
    });
    await tickOf({ baseUrl: remote.url })();
    expect(fixture.entries).toMatchObject([{ code: "RECONCILED", listed: 2, missing: 3 }]);
    const messages = factsOf(await fed());
    expect(messages).toEqual(
      expect.arrayContaining([...missingUsers([one, two]), ...missingAccounts([account])]),
    );
  });

  describe("an unreadable answer", () => {
    test("about one user is skipped and reported, and all others are compared", async () => {
      const { users } = await fixture.sandbox.createUsers(3);
      fixture.sandbox.fault({ path: `/api/v0.4/users/${users[1]}/`, status: 403 });
      await tickOf()();
      expect(fixture.entries).toMatchObject([
        {
          code: "RECONCILIATION_SKIPPED",
          subject: { kind: "user", id: users[1] },
          reason: "the provider answered 403",
        },
        { code: "RECONCILED", listed: 3, missing: 5, skipped: 1 },
      ]);
    });

    test.each([
      [500, "the provider answered 500"],
      [202, "the provider answered 202: not ready"],
    ])(
      "about one user in each tick (%i) is skipped after the third, and a wait for the rate never is",
      async (status, reason) => {
        const { users } = await fixture.sandbox.createUsers(3);
        fixture.sandbox.fault({ path: `/api/v0.4/users/${users[1]}/`, status, times: 100 });
        const rate = permits(Number.POSITIVE_INFINITY);
        const tick = tickOf({ permit: rate.permit });
        await tick();
        for (let ticks = 0; ticks < 5; ticks += 1) {
          rate.left = 1;
          await tick();
        }
        rate.left = Number.POSITIVE_INFINITY;
        for (let ticks = 0; ticks < 3; ticks += 1) await tick();
        expect(new Set(codes())).toEqual(new Set(["RECONCILIATION_PAUSED"]));
        expect(calls(/accounts/)).toHaveLength(1 + 4);
        await tick();
        expect(fixture.entries.slice(-2)).toMatchObject([
          { code: "RECONCILIATION_SKIPPED", subject: { kind: "user", id: users[1] }, reason },
          { code: "RECONCILED", listed: 3, missing: 5, skipped: 1 },
        ]);
      },
    );

    test.each([
      ["an environment", 1, "the provider answered 401"],
      ["new environments", 4, "the token was refused"],
    ])(
      "about one user for whom the token is refused is skipped by %s after %i ticks",
      async (environment, count, reason) => {
        const { users } = await fixture.sandbox.createUsers(3);
        fixture.sandbox.fault({ path: `/api/v0.4/users/${users[1]}/`, status: 401, times: 100 });
        const same = tickOf();
        const tick = () => (environment === "new environments" ? tickOf() : same)();
        for (let ticks = 0; ticks < count; ticks += 1) await tick();
        const paused = { code: "RECONCILIATION_PAUSED", reason: "the token was refused" };
        expect(fixture.entries).toEqual(Array.from({ length: count }, () => paused));
        await tick();
        expect(fixture.entries.slice(count)).toMatchObject([
          { code: "RECONCILIATION_SKIPPED", subject: { kind: "user", id: users[1] }, reason },
          { code: "RECONCILED", listed: 3, missing: 5, skipped: 1 },
        ]);
      },
    );

    test("because the token is refused for the list skips nobody, however often", async () => {
      await fixture.sandbox.createUsers(1);
      fixture.sandbox.fault({ path: "/api/v0.4/users", status: 401, times: 100 });
      const tick = tickOf();
      for (let ticks = 0; ticks < 6; ticks += 1) await tick();
      expect(new Set(codes())).toEqual(new Set(["RECONCILIATION_PAUSED"]));
      fixture.sandbox.clearFaults();
      await tick();
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILED", missing: 2, skipped: 0 });
    });

    test("that is not ready yet is not asked for again earlier than the provider says, in any tick", async () => {
      const notReady = { status: 202, headers: { "retry-after": "3600" } };
      const remote = await scripted((_, count) => (count === 1 ? notReady : { json: [] }));
      const tick = tickOf({ baseUrl: remote.url, provider: { paths: {} } });
      for (const minutes of [0, 5, 54]) {
        fixture.time += minutes * 60_000;
        expect(await tick()).toMatchObject({ outcome: "paused" });
      }
      expect(remote.requests).toHaveLength(1);
      fixture.time += 2 * 60_000;
      expect(await tick()).toMatchObject({ outcome: "done" });
    });

    test("among a page's items is skipped, counted and reported; a page without a readable item ends the run", async () => {
      const listed = [{ id: randomUUID() }, { name: "no id" }, { id: randomUUID() }];
      const remote = await scripted(() => ({ json: listed }));
      const tick = tickOf({ baseUrl: remote.url, provider: { paths: {} } });
      await tick();
      expect(fixture.entries).toMatchObject([
        { code: "RECONCILIATION_SKIPPED", reason: "reconcile.users.id: finds nothing in a listed item" },
        { code: "RECONCILED", listed: 2, missing: 2, skipped: 1 },
      ]);
      remote.answer = () => ({ json: [{ name: "no id" }] });
      fixture.time += day;
      await expect(tick()).rejects.toThrow("reconcile.users.id: finds nothing in a listed item");
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILIATION_FAILED" });
    });

    test("that goes on in a way that the settings do not name skips a user, or ends the run", async () => {
      const id = randomUUID();
      const reason = expect.stringMatching(/^provider.paging.next: finds nothing .* has_more /);
      const remote = await scripted(({ path }) => ({
        json: { data: [{ id }], has_more: path.includes(id) },
      }));
      await tickOf({ baseUrl: remote.url })();
      expect(fixture.entries).toMatchObject([
        { code: "RECONCILIATION_SKIPPED", subject: { kind: "user", id }, reason },
        { code: "RECONCILED", listed: 1, skipped: 1 },
      ]);
      remote.answer = () => ({ json: { data: [{ id }], has_more: true } });
      fixture.time += day;
      await expect(tickOf({ baseUrl: remote.url })()).rejects.toThrow("provider.paging.next");
      expect(fixture.entries.at(-1)).toEqual({ code: "RECONCILIATION_FAILED", reason });
    });

    test("about a user that the provider no longer knows does not affect the accounts", async () => {
      const announced = await fixture.sandbox.createUsers(1);
      await learnAll(announced);
      fixture.sandbox.fault({ path: `/api/v0.4/users/${announced.users[0]}/`, status: 404 });
      await tickOf()();
      expect(await fed()).toEqual([]);
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILED", skipped: 1, drift: 0 });
    });

    test.each([
      [404, "the provider lists no users; see provider.paths.users"],
      [400, "the provider answered 400"],
    ])("because the list is answered with %i ends the run until its next time", async (status, reason) => {
      await fixture.sandbox.createUsers(1);
      fixture.sandbox.fault({ path: "/api/v0.4/users", status });
      const tick = tickOf();
      await expect(tick()).rejects.toThrow(reason);
      expect(fixture.entries).toEqual([{ code: "RECONCILIATION_FAILED", reason }]);
      await tick();
      expect(calls()).toHaveLength(1);

      fixture.sandbox.clearFaults();
      fixture.time += 24 * hour;
      await tick();
      expect(fixture.entries.at(-1)).toMatchObject({ code: "RECONCILED", missing: 2 });
    });
  });

  describe("data", () => {
    let subject: Subject;

    beforeEach(async () => {
      const announced = await fixture.sandbox.createUsers(1);
      await learnAll(announced);
      subject = { kind: "account", id: announced.accounts[0] ?? "" };
    });

    const readAgo = (milliseconds: number, endpoint = "income") =>
      readAt(subject, endpoint, fixture.time - milliseconds);

    test("is read again only if its last read is older than the setting's days", async () => {
      await readAgo(30 * day + 1);
      await readAgo(30 * day, "profile");
      await tickOf()();
      expect(await tasks()).toMatchObject([
        { type: "fetchDocument", subject, endpoint: "income", since: fixture.time - 30 * day },
      ]);
      expect(fixture.entries).toMatchObject([{ code: "RECONCILED", reread: 1, drift: 0 }]);
    });

    test("is requested once in a run, and again in the next if it was not read", async () => {
      await readAgo(31 * day);
      // The missed event cannot be sent, so the user is processed again.
      await fixture.sandbox.createUsers(1);
      const working = fixture.system.intercept(async ({ action, resources }, phase) => {
        const isWebhooks = resources.every((arn) => !arn.endsWith(".fifo"));
        if (action !== "sqs:SendMessageBatch" || phase !== "before" || !isWebhooks) return undefined;
        return { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" };
      });
      await tickOf()();
      working();
      expect(await tasks()).toHaveLength(1);
      await tickOf()();
      expect(await tasks()).toEqual([]);
      fixture.time += day;
      await tickOf()();
      expect(await tasks()).toHaveLength(1);
    });

    test("is read again even if accounts are not compared", async () => {
      await readAgo(31 * day);
      await tickOf({ provider: { paths: {} } })();
      expect(await tasks()).toHaveLength(1);
    });

    test("of a deleted account is not read", async () => {
      await readAgo(31 * day);
      await fixture.known.reviseState(subject, (state) => state && { ...state, version: 2, deleted: true });
      await tickOf()();
      expect(await tasks()).toEqual([]);
    });
  });
});
