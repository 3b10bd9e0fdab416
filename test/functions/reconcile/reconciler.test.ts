import { randomUUID } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startTestProvider } from "@income-events/local-stack/provider.ts";
import { type Sandbox, startSandbox } from "@income-events/sandbox/server.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { partitions } from "../../../adapters/dynamodb/partitions.ts";
import { type Revisions, revisions } from "../../../adapters/dynamodb/versioned-records.ts";
import { guardedCall } from "../../../adapters/provider/guarded-call.ts";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import type { Permit } from "../../../adapters/provider/rate-limiter.ts";
import { withToken } from "../../../adapters/provider/with-token.ts";
import { linkTable } from "../../../adapters/s3/links.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { parseTokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { checkpoint } from "../../../adapters/streams/checkpoint.ts";
import { waiting } from "../../../domain/core/failures.ts";
import { type Envelope, readEnvelope } from "../../../domain/event/envelope.ts";
import type { EventType } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { DataSet } from "../../../domain/fetch/document.ts";
import { parseProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { parseReconcileSettings } from "../../../domain/reconcile/reconcile-settings.ts";
import { judge } from "../../../domain/state/state.ts";
import { providerLists } from "../../../functions/reconcile/provider-lists.ts";
import { reconciler } from "../../../functions/reconcile/reconciler.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";
import { noRefusals } from "../../support/tokens.ts";
import { keptLog, type LogEntry } from "../support/lambda.ts";

const hour = 3_600_000;
const day = 24 * hour;

const anyCall: Permit = async () => undefined;
const accountsPath = "/api/v0.4/users/{user_id}/accounts";
const stage = (provider: object, graceMinutes: number) =>
  parseSettings({ production: false, provider, reconcile: { graceMinutes } }, "f.json");

let largeLists = 0;

/** What is left after the garbage was collected. */
function heapInMegabytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

await describeOnTables("the reconciler", (tables) => {
  let system: TestSystem;
  let sandbox: Sandbox;
  let table: TestTable;
  let known: Revisions;
  let queueUrls: { users: string; accounts: string };
  let token: string;
  let entries: LogEntry[];
  let time: number;

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());

  beforeEach(async () => {
    const [users, accounts] = await Promise.all([system.createQueue(), system.createQueue()]);
    queueUrls = { users, accounts };
    [table, sandbox] = await Promise.all([system.createTable(), startSandbox()]);
    known = revisions(system.dynamodb, table.name);
    token = system.createSecret({ token: sandbox.token });
    entries = [];
    // Later than all that is created here.
    time = Date.now() + hour;
    return () => sandbox.close();
  });

  type Stage = {
    readonly provider?: object;
    readonly graceMinutes?: number;
    readonly baseUrl?: string;
    readonly ids?: "any";
    readonly permit?: Permit;
    readonly longestCallInMillis?: number;
  };

  /** One environment of the function: its token and its lot of calls are its own. */
  function tickOf({
    provider: given = {},
    graceMinutes = 0,
    baseUrl = sandbox.baseUrl,
    ids,
    permit = anyCall,
    longestCallInMillis = 0,
  }: Stage = {}) {
    const paths = { userAccounts: accountsPath };
    const settings = stage({ allowPrivateAddresses: true, paths, ...given }, graceMinutes);
    const provider = parseProviderSettings(settings.provider);
    const reconcile = parseReconcileSettings(settings.reconcile, { users: ids, accounts: ids });
    const now = () => new Date(time);
    const reader = secretReader(system.secretsManager, token, parseTokenSecret, { now });
    const api = providerApi(baseUrl, provider, now);
    const admit = async () => async () => undefined;
    const call = withToken(guardedCall(api, admit, permit), reader, noRefusals);
    const kept = keptLog();
    const tick = reconciler({
      lists: providerLists(call, provider, reconcile),
      search: jmespathSearch,
      checkpoint: checkpoint(system.dynamodb, table.name),
      revisions: known,
      partitions: partitions(system.dynamodb, table.name),
      send: sqsSender(system.sqs),
      queueUrls,
      settings: reconcile,
      longestCallInMillis,
      now,
      log: (...entry) => {
        kept.log(...entry);
        entries.push(...kept.entries.splice(0));
      },
    });
    return (remaining = 60_000) => tick({}, { getRemainingTimeInMillis: () => remaining });
  }

  const codes = () => entries.map(({ code }) => code);
  const calls = (path = /./) => sandbox.calls().filter((call) => path.test(call.path));
  const fed = async (): Promise<readonly Envelope[]> => {
    const messages = await Promise.all(Object.values(queueUrls).map((url) => system.drain(url)));
    return messages.flat().map(({ Body = "" }) => readEnvelope(Body));
  };
  const factsOf = (envelopes: readonly Envelope[]) =>
    envelopes.map(({ kind, body }) => ({ kind, facts: body.as === "facts" ? body.facts : body.as }));
  const missedUsers = (ids: readonly string[]) =>
    ids.map((userId) => ({ kind: "users", facts: { type: "user.created", userId } }));
  const missedAccounts = (ids: readonly string[]) =>
    ids.map((accountId) => ({
      kind: "accounts",
      facts: expect.objectContaining({ type: "account.created", accountId, connected: true }),
    }));

  /** Lets the table know a user or an account by an event, as the relay does. */
  async function learn(subject: Subject, type: EventType, userId?: string) {
    const ids = subject.kind === "user" ? { userId: subject.id } : { accountId: subject.id, userId };
    const event = { id: randomUUID(), kind: "users" as const, receivedAt: "2026-01-01T00:00:00.000Z", type };
    const owned = { ...event, ...(ids.userId === undefined ? {} : { userId: ids.userId }) };
    const whole = subject.kind === "user" ? owned : { ...owned, accountId: subject.id };
    await known.state(subject, (state) => judge(state, whole, 1));
    if (subject.kind === "account" && userId !== undefined) {
      await linkTable(system.dynamodb, table.name)(userId, subject.id);
    }
  }
  async function learnAll({ users, accounts }: { users: readonly string[]; accounts: readonly string[] }) {
    for (const id of users) await learn({ kind: "user", id }, "user.created");
    for (const [index, id] of accounts.entries()) {
      await learn({ kind: "account", id }, "account.connected", users[index]);
    }
  }

  describe("a run", () => {
    test("feeds users and accounts that no webhook told to the queues of the webhooks, and tells the gap", async () => {
      const told = await sandbox.createUsers(2);
      await learnAll(told);
      const missed = await sandbox.createUsers(3, { companyAccounts: 1 });

      await tickOf()();

      const envelopes = await fed();
      expect(factsOf(envelopes)).toEqual(
        expect.arrayContaining([...missedUsers(missed.users), ...missedAccounts(missed.accounts)]),
      );
      expect(envelopes).toHaveLength(6);
      expect(entries).toEqual([
        {
          code: "RECONCILED",
          correlationId: expect.stringMatching(/^reconciliation\.\d{4}-/),
          listed: 5,
          missed: 6,
          contradicted: 0,
          unlisted: 0,
          deleted: 0,
          reread: 0,
          skipped: 0,
          gap: 6,
        },
      ]);
    });

    test("finds nothing where the table knows all", async () => {
      await learnAll(await sandbox.createUsers(3));
      await tickOf()();
      expect(await fed()).toEqual([]);
      expect(entries).toMatchObject([{ code: "RECONCILED", listed: 3, gap: 0 }]);
    });

    test("compares users alone where the settings know no path to their accounts", async () => {
      const { users } = await sandbox.createUsers(2);
      await tickOf({ provider: { paths: {} } })();
      expect(factsOf(await fed())).toEqual(expect.arrayContaining(missedUsers(users)));
      expect(calls().map(({ path }) => path)).toEqual(["/api/v0.4/users"]);
    });

    test("leaves what was created lately to its webhook", async () => {
      await sandbox.createUsers(1);
      time = Date.now();
      await tickOf({ graceMinutes: 15 })();
      expect(await fed()).toEqual([]);
      expect(entries).toMatchObject([{ code: "RECONCILED", listed: 1, gap: 0 }]);
      time += day;
      await tickOf({ graceMinutes: 15 })();
      expect(await fed()).toHaveLength(2);
    });

    test("feeds an account that is listed otherwise, and one that is listed no more", async () => {
      const told = await sandbox.createUsers(3);
      await learnAll(told);
      const [disconnected = "", gone = ""] = told.accounts;
      sandbox.disconnectAccount(disconnected);
      sandbox.deleteAccount(gone);

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
        { kind: "accounts", facts: { type: "account.deleted", accountId: gone, userId: told.users[1] } },
      ]);
      expect(entries).toMatchObject([{ code: "RECONCILED", contradicted: 1, unlisted: 1, gap: 2 }]);
    });

    test("brings nothing back to life, and asks for no accounts of a user that was deleted", async () => {
      const { users } = await sandbox.createUsers(1);
      const [id = ""] = users;
      await learn({ kind: "user", id }, "user.created");
      await known.state({ kind: "user", id }, (state) => state && { ...state, version: 2, deleted: true });
      await tickOf()();
      expect(await fed()).toEqual([]);
      expect(calls(/accounts/)).toEqual([]);
      expect(entries).toMatchObject([{ code: "RECONCILED", deleted: 1, gap: 0 }]);
    });

    test("begins again when its time has come, and not before", async () => {
      await sandbox.createUsers(1);
      const tick = tickOf();
      await tick();
      time += 24 * hour - 1;
      await tick();
      expect(calls(/users$/)).toHaveLength(1);
      time += 1;
      await tick();
      expect(calls(/users$/)).toHaveLength(2);
      const ids = (await fed()).map(({ id }) => id);
      expect(ids).toHaveLength(4);
      // The gap is the same, and so are its events.
      expect(new Set(ids).size).toBe(2);
    });
  });

  describe("a tick", () => {
    test("ends when the time is nearly over, and the next goes on after the last user that was done", async () => {
      const { users, accounts } = await sandbox.createUsers(7);
      const tick = tickOf({ longestCallInMillis: 5_000 });
      for (let ticks = 1; ticks < 7; ticks += 1) {
        await tick(5_000);
        expect(codes()).toEqual([]);
        expect(calls(/accounts/)).toHaveLength(ticks);
      }
      await tick(5_000);
      expect(entries).toMatchObject([{ code: "RECONCILED", listed: 7, missed: 14 }]);
      const perUser = calls(/accounts/).map(({ path }) => path.split("/")[4]);
      expect(perUser).toEqual(users);
      expect(await fed()).toHaveLength(users.length + accounts.length);
    });

    test("ends when the rate is used up, and the next goes on from the user that waited", async () => {
      const { users } = await sandbox.createUsers(12);
      let left = 0;
      const permit = async () => {
        left -= 1;
        if (left < 0) throw waiting("the provider's rate is used up", 1);
      };
      // Each tick lists the users once, and then has two calls left.
      for (let ticks = 1; ticks < 6; ticks += 1) {
        left = 3;
        await tickOf({ permit })();
        expect(entries).toHaveLength(ticks);
        expect(entries.at(-1)).toEqual({
          code: "RECONCILIATION_PAUSED",
          reason: "the provider's rate is used up",
        });
        expect(calls(/accounts/)).toHaveLength(2 * ticks);
      }
      left = 3;
      await tickOf({ permit })();
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILED", listed: 12, missed: 24 });
      expect(calls(/accounts/).map(({ path }) => path.split("/")[4])).toEqual(users);
    });

    test("ends when the provider fails, and the next goes on from the user that it failed at", async () => {
      const { users } = await sandbox.createUsers(6);
      const tick = tickOf();
      sandbox.fault({ path: `/api/v0.4/users/${users[3]}/`, status: 503, times: 1 });
      await tick();
      expect(entries).toEqual([{ code: "RECONCILIATION_PAUSED", reason: "the provider answered 503" }]);
      expect(await fed()).toHaveLength(6);
      await tick();
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILED", listed: 6, missed: 12 });
      expect(await fed()).toHaveLength(6);
      expect(calls(/accounts/)).toHaveLength(7);
    });

    test("ends when a queue can't be written to, and forgets nothing", async () => {
      await sandbox.createUsers(2);
      const tick = tickOf();
      const working = system.fail("sqs:SendMessageBatch", queueUrls.accounts.split("/").at(-1));
      await tick();
      working();
      expect(codes()).toEqual(["RECONCILIATION_PAUSED"]);
      await tick();
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILED", missed: 4 });
      expect(new Set((await fed()).map(({ id }) => id)).size).toBe(4);
    });

    test("that is killed anywhere is made up for by the next", async () => {
      const { accounts } = await sandbox.createUsers(2);
      await learnAll({ users: [], accounts: accounts.slice(1) });
      let killed = true;
      let cuts = 0;
      for (let survives = 0; killed; survives += 1) {
        // Each round is a run of its own, which is cut off one call to AWS later than the one before.
        time += day;
        killed = false;
        let made = 0;
        const working = system.intercept(async (_, moment) => {
          if (moment !== "after") return undefined;
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
        expect((await checkpoint(system.dynamodb, table.name).load())?.endedAt).toBeDefined();
      }
      expect(cuts).toBeGreaterThan(10);
    });

    test("beside another one ends where the other has gone on: the run is told once", async () => {
      const { users } = await sandbox.createUsers(40);
      const ticks = [tickOf(), tickOf(), tickOf()];
      await Promise.all(ticks.map((tick) => tick()));
      // Whoever was overtaken has left the run to another one.
      await tickOf()();
      expect(codes().filter((code) => code === "RECONCILED")).toHaveLength(1);
      expect(entries.find(({ code }) => code === "RECONCILED")).toMatchObject({ listed: 40, missed: 80 });
      const ids = (await fed()).map(({ id }) => id);
      expect(new Set(ids).size).toBe(2 * users.length);
    });
  });

  describe("a list in pages", () => {
    const paged = (items: number) => ({
      paths: { userAccounts: accountsPath },
      paging: { pageSize: { items } },
    });

    test("is read page by page, of users and of accounts, and a tick goes on within a page", async () => {
      const { users, accounts } = await sandbox.createUsers(8, { accountsPerUser: 4 });
      const tick = tickOf({ provider: paged(3), longestCallInMillis: 5_000 });
      for (let ticks = 0; ticks < 7; ticks += 1) await tick(5_000);
      expect(codes()).toEqual([]);
      await tick(5_000);
      expect(entries).toMatchObject([{ code: "RECONCILED", listed: 8, missed: 8 + 32 }]);
      // Each tick does one user: it asks for that user's page, and for two pages of accounts.
      const firstOfPage = calls(/users$/).map(({ answer }) => /"id":"([^"]+)"/.exec(answer)?.[1]);
      expect(firstOfPage).toEqual([0, 0, 0, 3, 3, 3, 6, 6].map((index) => users[index]));
      expect(calls(/accounts$/)).toHaveLength(16);
      const messages = await fed();
      expect(factsOf(messages)).toEqual(
        expect.arrayContaining([...missedUsers(users), ...missedAccounts(accounts)]),
      );
      expect(messages).toHaveLength(40);
    });

    test("whose place the provider knows no more ends the run, and the next one begins at the first page", async () => {
      await sandbox.createUsers(4);
      const tick = tickOf({ provider: paged(2), longestCallInMillis: 5_000 });
      // Both users of the first page: the second tick turns it.
      for (let ticks = 0; ticks < 2; ticks += 1) await tick(5_000);
      sandbox.fault({ path: "/users$", status: 400, times: 1 });
      await expect(tick()).rejects.toThrow("the provider answered 400");
      time += day;
      await tick();
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILED", listed: 4 });
    });

    // Memory is the same on each engine, and many users take their time.
    largeLists += 1;
    if (largeLists === 1)
      test("of 1,000 users and 100 MB is held a page at a time", async () => {
        const pages = 10;
        const heaps: number[] = [];
        const remote = await startTestProvider();
        remote.answer = ({ path }) => {
          heaps.push(heapInMegabytes());
          const page = Number(new URL(path, remote.url).searchParams.get("cursor") ?? 0);
          const data = Array.from({ length: 100 }, (_, index) => ({
            id: `u-${page}-${index}`,
            padding: "x".repeat(100_000),
          }));
          return { json: { data, next: page < pages - 1 ? page + 1 : null } };
        };
        await tickOf({ baseUrl: remote.url, ids: "any", provider: { paths: {} } })();
        await remote.close();
        expect(entries).toMatchObject([{ code: "RECONCILED", listed: 1_000, missed: 1_000 }]);
        expect(heaps).toHaveLength(pages);
        expect(Math.max(...heaps) - (heaps[0] ?? 0)).toBeLessThan(60);
      });
  });

  describe("what can't be read", () => {
    test("of one user is skipped and told, and all others are compared", async () => {
      const { users } = await sandbox.createUsers(3);
      sandbox.fault({ path: `/api/v0.4/users/${users[1]}/`, status: 403 });
      await tickOf()();
      expect(entries).toMatchObject([
        { code: "RECONCILIATION_SKIPPED", subject: `user/${users[1]}`, reason: "the provider answered 403" },
        { code: "RECONCILED", listed: 3, missed: 5, skipped: 1 },
      ]);
    });

    test("of one user in tick after tick is skipped after the third, and what waits for the rate never is", async () => {
      const { users } = await sandbox.createUsers(3);
      sandbox.fault({ path: `/api/v0.4/users/${users[1]}/`, status: 500, times: 100 });
      let left = Number.POSITIVE_INFINITY;
      const permit = async () => {
        left -= 1;
        if (left < 0) throw waiting("the provider's rate is used up", 1);
      };
      const tick = tickOf({ permit });
      await tick();
      for (let ticks = 0; ticks < 5; ticks += 1) {
        left = 1;
        await tick();
      }
      left = Number.POSITIVE_INFINITY;
      for (let ticks = 0; ticks < 3; ticks += 1) await tick();
      expect(new Set(codes())).toEqual(new Set(["RECONCILIATION_PAUSED"]));
      expect(calls(/accounts/)).toHaveLength(1 + 4);
      await tick();
      expect(entries.slice(-2)).toMatchObject([
        { code: "RECONCILIATION_SKIPPED", subject: `user/${users[1]}`, reason: "the provider answered 500" },
        { code: "RECONCILED", listed: 3, missed: 5, skipped: 1 },
      ]);
    });

    test("among the items of a page is skipped, counted once and told; a page without any item that can be read ends the run", async () => {
      const remote = await startTestProvider();
      const [one, two] = [randomUUID(), randomUUID()];
      remote.answer = () => ({ json: [{ id: one }, { name: "no id" }, { id: two }] });
      const tick = tickOf({ baseUrl: remote.url, provider: { paths: {} } });
      await tick();
      expect(entries).toMatchObject([
        { code: "RECONCILIATION_SKIPPED", reason: "reconcile.users.id: finds nothing in a listed item" },
        { code: "RECONCILED", listed: 2, missed: 2, skipped: 1 },
      ]);
      remote.answer = () => ({ json: [{ name: "no id" }] });
      time += day;
      await expect(tick()).rejects.toThrow("reconcile.users.id: finds nothing in a listed item");
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILIATION_FAILED" });
      await remote.close();
    });

    test("of a user that the provider knows no more says nothing of the accounts", async () => {
      const told = await sandbox.createUsers(1);
      await learnAll(told);
      sandbox.fault({ path: `/api/v0.4/users/${told.users[0]}/`, status: 404 });
      await tickOf()();
      expect(await fed()).toEqual([]);
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILED", skipped: 1, gap: 0 });
    });

    test.each([
      [404, "the provider lists no users; see provider.paths.users"],
      [400, "the provider answered 400"],
    ])("because the list is answered with %i ends the run until its next time", async (status, reason) => {
      await sandbox.createUsers(1);
      sandbox.fault({ path: "/api/v0.4/users", status });
      const tick = tickOf();
      await expect(tick()).rejects.toThrow(reason);
      expect(entries).toEqual([{ code: "RECONCILIATION_FAILED", reason }]);
      await tick();
      expect(calls()).toHaveLength(1);

      sandbox.clearFaults();
      time += 24 * hour;
      await tick();
      expect(entries.at(-1)).toMatchObject({ code: "RECONCILED", missed: 2 });
    });
  });

  describe("data", () => {
    const income = { endpoint: "income" };
    let subject: Subject;

    beforeEach(async () => {
      const told = await sandbox.createUsers(1);
      await learnAll(told);
      subject = { kind: "account", id: told.accounts[0] ?? "" };
    });

    const fetchedAgo = (milliseconds: number, endpoint = "income", facts: Partial<DataSet> = {}) =>
      known.dataSet(subject, { endpoint }, () => ({
        subject,
        endpoint,
        version: 1,
        wanted: 1,
        done: 1,
        fetchedAt: new Date(time - milliseconds).toISOString(),
        judged: [],
        latest: { cause: "again" },
        ...facts,
      }));

    test("that was fetched last before the setting's days is wanted again, and no other", async () => {
      await fetchedAgo(30 * day + 1);
      await fetchedAgo(30 * day, "profile");
      await fetchedAgo(0, "assets", { done: 0 });
      await tickOf()();
      expect(await known.loadDataSet(subject, income)).toMatchObject({ wanted: 2, done: 1 });
      for (const endpoint of ["profile", "assets"]) {
        expect(await known.loadDataSet(subject, { endpoint })).toMatchObject({ version: 1, wanted: 1 });
      }
      expect(entries).toMatchObject([{ code: "RECONCILED", reread: 1, gap: 0 }]);
    });

    test("is wanted once in a run, and again in the next while it was not fetched", async () => {
      await fetchedAgo(31 * day);
      // What was missed can't be sent, after the data was wanted: the user is done again.
      await sandbox.createUsers(1);
      const working = system.fail("sqs:SendMessageBatch");
      await tickOf()();
      working();
      expect(await known.loadDataSet(subject, income)).toMatchObject({ wanted: 2 });
      await tickOf()();
      expect(await known.loadDataSet(subject, income)).toMatchObject({ wanted: 2 });
      time += day;
      await tickOf()();
      expect(await known.loadDataSet(subject, income)).toMatchObject({ wanted: 3 });
    });

    test("is read again where accounts are not compared, too", async () => {
      await fetchedAgo(31 * day);
      await tickOf({ provider: { paths: {} } })();
      expect(await known.loadDataSet(subject, income)).toMatchObject({ wanted: 2 });
    });

    test("of an account that was deleted is left alone", async () => {
      await fetchedAgo(31 * day);
      await known.state(subject, (state) => state && { ...state, version: 2, deleted: true });
      await tickOf()();
      expect(await known.loadDataSet(subject, income)).toMatchObject({ wanted: 1 });
    });
  });
});
