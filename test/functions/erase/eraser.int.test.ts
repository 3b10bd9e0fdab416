import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { legalHolds } from "../../../adapters/dynamodb/legal-holds.ts";
import { orphans } from "../../../adapters/dynamodb/orphans.ts";
import { readinessRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { readErasure } from "../../../adapters/erasure/tombstones.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture, eventOf } from "../support/eraser-fixture.ts";
import { erasedAt, source } from "../support/erasing.ts";

const digits = "9".repeat(20);

await describeOnTables("the eraser", (tables) => {
  const fixture = eraserFixture(tables);
  const { store, storeAll, run, ask, erase, remains, report, bodies, isErased } = fixture;

  describe("a user", () => {
    test("is erased with all accounts: every item and object, including superseded ones and pages", async () => {
      await storeAll();
      const missing = { accountId: fixture.account.id, userId: fixture.user.id, version: 1 };
      const kept = orphans(fixture.system.dynamodb, fixture.table.name);
      await kept.saveMark({ ...missing, first: "2026-01-01T00:00:00Z", lastRun: "2026-01-02T00:00:00Z" });
      await kept.saveDeletion({ ...missing, decidedAt: "2026-01-02T00:00:00Z" });
      await erase(fixture.user);
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
      expect(await fixture.overflow.keys()).toEqual([
        expect.stringContaining(`data/account/${fixture.other.id}/profile/`),
      ]);
      expect(await fixture.table.item(`ACCOUNT#${fixture.other.id}`, "STATE")).toBeDefined();
      expect(await report()).toEqual({
        step: "messages",
        isDone: true,
        refused: [],
        isFound: true,
        subjects: 2,
        removed: {
          events: 3,
          states: 2,
          documents: 2,
          links: 1,
          "notes of objects": 1,
          bodies: 1,
          data: 2,
          pages: 1,
        },
        incomplete: [],
      });
    });

    test("is reported by the erasure that removed it, if two of them overlap", async () => {
      await storeAll();
      const { records } = fixture.dependencies;
      const overtaken: typeof records = {
        ...records,
        remove: async (record) => {
          await records.remove(record);
          return records.remove(record);
        },
      };
      await ask(eraseTask(fixture.user, "operator", [], "followed"));
      await run(eraser({ ...fixture.dependencies, records: overtaken }));
      expect(await report()).toMatchObject({ isDone: true, subjects: 2 });
      expect((await report())?.removed).toEqual({ data: 2, pages: 1 });
    });

    test("is reported as erased with the counts once both passes are over", async () => {
      await storeAll();
      await erase(fixture.user);
      const { digestOf, table } = fixture;
      const read = async (subject: Subject) =>
        readErasure(fixture.system.dynamodb, table.name, await digestOf(subject));
      const found = [{ removed: (await report())?.removed, incomplete: [], refused: [], isFinished: true }];
      expect(await read(fixture.user)).toEqual({ erasedAt: erasedAt.toISOString(), found });
      expect(await read(fixture.account)).toEqual({ erasedAt: erasedAt.toISOString(), found });
      expect(await read(fixture.other)).toBeUndefined();
    });

    test("leaves tombstones of digests, so that the relay knows the user and each account", async () => {
      await storeAll();
      await erase(fixture.user);
      expect(await isErased(fixture.user, fixture.account, fixture.other)).toEqual(
        [nameOf(fixture.account), nameOf(fixture.user)].toSorted(),
      );
      const stones = (await fixture.table.all()).filter(({ sk }) => sk === "TOMBSTONE");
      const days = 100 * 86_400;
      for (const stone of stones) {
        expect(stone).toMatchObject({
          erasedAt: erasedAt.toISOString(),
          expiresAt: erasedAt.getTime() / 1000 + days,
        });
      }
    });

    test("has a report that ends with its last step, even if an earlier step reports later", async () => {
      const { writeReport } = fixture.dependencies;
      const task = eraseTask(fixture.user, "operator", [], "followed");
      for (const [outcome, isDone] of [
        ["going on", false],
        ["done", true],
        ["going on", true],
      ] as const) {
        await writeReport(task, outcome);
        expect(await report()).toMatchObject({ isDone });
      }
    });

    test("has tombstone and log, and so has each account, before anything is removed", async () => {
      await storeAll();
      const done: string[] = [];
      const end = fixture.system.intercept(async ({ action, resources }, phase) => {
        const isLog = resources.some((arn) => arn.includes(fixture.log.name));
        if (phase === "after" && (/UpdateItem|DeleteItem|DeleteObject/.test(action) || isLog))
          done.push(action);
        return undefined;
      });
      await ask(eraseTask(fixture.user, "operator"));
      for (let steps = 0; steps < 2; steps += 1) await fixture.step();
      end();
      const firstRemoval = done.findIndex((action) => /^(dynamodb:DeleteItem|s3:DeleteObject)$/.test(action));
      expect(done.slice(0, firstRemoval)).toEqual([
        "dynamodb:UpdateItem",
        "s3:PutObject",
        "dynamodb:UpdateItem",
        "s3:PutObject",
      ]);
    });

    test("is announced to subscribers once, with each account, with the highest sequence", async () => {
      await storeAll();
      await erase(fixture.user);
      await erase(fixture.user);
      const at = erasedAt.toISOString();
      const message = (subject: Subject, data: object) => ({
        specversion: "1.0",
        id: `${nameOf(subject)}.erased.${at}`,
        source,
        type: `${subject.kind}.erased`,
        subject: nameOf(subject),
        time: at,
        datacontenttype: "application/json",
        sequence: digits,
        correlationid: "followed",
        data,
      });
      expect(await bodies(fixture.subscriber)).toEqual([
        message(fixture.user, { userId: fixture.user.id }),
        message(fixture.account, { accountId: fixture.account.id }),
      ]);
    });

    test("is announced with the same message by every erasure that finds it unannounced", async () => {
      const { tombstones } = fixture.dependencies;
      const unannounced = { ...tombstones, markAnnounced: async () => undefined };
      await storeAll();
      const announcementOf = async (id: string) => {
        await ask(eraseTask(fixture.user, "operator", [], id));
        await run(eraser({ ...fixture.dependencies, tombstones: unannounced }));
        return bodies(fixture.subscriber);
      };
      const [message] = await announcementOf("the first");
      expect(message).toMatchObject({ type: "user.erased", correlationid: "the first" });
      expect(await announcementOf("a later one")).toEqual([message, message]);
    });

    test("is erased without an account that only a data event links to it, if its state names another user or none", async () => {
      const { storing, table } = fixture;
      const owner = randomUUID();
      await store({ userId: owner, accountId: fixture.account.id });
      await store({ accountId: fixture.other.id });
      for (const { id: accountId } of [fixture.account, fixture.other]) {
        await store({
          userId: fixture.user.id,
          accountId,
          kind: "endpoints",
          type: "endpoint.updated",
          endpoint: "income",
        });
        await storing.document({ kind: "account", id: accountId }, "income", "{}");
      }
      // An event of the account itself with the wrong user, which its state ignores.
      await store({ userId: fixture.user.id, accountId: fixture.account.id, connected: true });
      await erase(fixture.user);
      expect(await isErased(fixture.account, fixture.other)).toEqual([]);
      for (const { id } of [fixture.account, fixture.other]) {
        const kept = (await table.items(`ACCOUNT#${id}`)).map(({ sk }) => sk);
        expect(kept).toEqual(expect.arrayContaining(["DOCUMENT#income", "STATE"]));
      }
      expect(await table.item(`ACCOUNT#${fixture.account.id}`, "STATE")).toMatchObject({
        state: { userId: owner, version: 2, latest: { cause: "again" } },
      });
      expect(await remains(fixture.user.id)).toEqual([]);
    });

    test("who is unknown is not announced, not logged, and gets no tombstone", async () => {
      await storeAll();
      for (const nobody of [
        { kind: "user", id: "zzz" },
        { kind: "user", id: fixture.account.id },
      ] as const) {
        await erase(nobody);
        expect(await report()).toMatchObject({ isDone: true, isFound: false, removed: {} });
        expect(await isErased(nobody)).toEqual([]);
      }
      expect(await fixture.log.keys()).toEqual([]);
      expect(await bodies(fixture.subscriber)).toEqual([]);
      expect(fixture.entries).toEqual([]);
      expect(await remains(fixture.account.id)).not.toEqual([]);
    });

    test("is found by an id in upper case", async () => {
      await storeAll();
      await erase({ kind: "user", id: fixture.user.id.toUpperCase() });
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
    });

    test("is found by a dead letter alone, and erased as anybody else", async () => {
      const { sweeps, deadLetters } = fixture;
      sweeps.deadLetters = true;
      await fixture.system.send(deadLetters.users, JSON.stringify({ user_id: fixture.user.id }));
      await erase(fixture.user);
      expect(await fixture.system.drain(deadLetters.users)).toEqual([]);
      expect(await isErased(fixture.user)).toEqual([nameOf(fixture.user)]);
      expect(await report()).toMatchObject({ isFound: true, removed: { "dead letters of users": 1 } });
    });

    test("stays as it is in a dry run, which counts what an erasure removes", async () => {
      await storeAll();
      const before = await remains(fixture.user.id, fixture.account.id);
      await ask({ ...eraseTask(fixture.user, "operator", [], "followed"), isDryRun: true });
      await run();
      const counted = await report();
      expect(await remains(fixture.user.id, fixture.account.id)).toHaveLength(before.length);
      expect(await isErased(fixture.user, fixture.account)).toEqual([]);
      expect(fixture.entries).toEqual([]);
      await erase(fixture.user);
      expect(counted).toEqual(await report());
    });
  });

  describe("an account", () => {
    test("is erased with its events in its user's partition, and the user stays", async () => {
      await storeAll();
      await erase(fixture.account);
      expect(await remains(fixture.account.id)).toEqual([]);
      expect(await fixture.table.item(`USER#${fixture.user.id}`, "STATE")).toBeDefined();
      expect(
        (await fixture.table.items(`USER#${fixture.user.id}`)).map(({ sk }) => String(sk).split("#")[0]),
      ).toEqual(["EVENT", "STATE"]);
      expect(await bodies(fixture.subscriber)).toMatchObject([
        { type: "account.erased", data: { accountId: fixture.account.id } },
      ]);
    });

    test("is removed from its user's readiness, which gets a new version", async () => {
      await storeAll();
      const { dynamodb } = fixture.system;
      const { name } = fixture.table;
      const shared = [batchingReader(dynamodb, name), batchingWriter(dynamodb, name)] as const;
      const listed = { status: "ready", since: 1 } as const;
      const accounts = [fixture.account, fixture.other].map(({ id }) => ({ accountId: id, ...listed }));
      await readinessRecords(...shared).updateUser(fixture.user, async () => {
        return { subject: fixture.user, version: 1, at: 1, accounts };
      });
      await erase(fixture.account);
      expect(await remains(fixture.account.id)).toEqual([]);
      const item = await fixture.table.item(`USER#${fixture.user.id}`, "READINESS");
      expect(item?.readiness).toMatchObject({
        version: 2,
        accounts: [{ accountId: fixture.other.id, ...listed }],
      });
    });

    test("is erased with its events in the partition of a user whom only its data names", async () => {
      const ids = { userId: fixture.user.id };
      const event = eventOf({ ...ids, accountId: fixture.account.id });
      await fixture.storing.record([receiptOf(event)]);
      await fixture.storing.document(fixture.account, "income", "{}", ids);
      await erase(fixture.account);
      expect(await remains(fixture.account.id)).toEqual([]);
    });

    test("that arrives late in the records of a user is found there by the user's name in the task", async () => {
      await erase(fixture.account);
      const event = eventOf({ userId: fixture.user.id, accountId: fixture.account.id });
      await fixture.storing.record([receiptOf(event)]);
      await ask(eraseTask(fixture.account, "arrived late", [fixture.user]));
      await run();
      expect(await remains(fixture.account.id)).toEqual([]);
    });
  });

  describe("the erasure of whom a legal hold is on", () => {
    const hold = (subject: Subject) =>
      legalHolds(fixture.system.dynamodb, fixture.table.name).set(subject, { at: "now", reason: "case" }, []);
    const logged = () => fixture.entries.map(({ code }) => code);

    test.each([
      ["a user who is held", () => fixture.user, () => fixture.user],
      ["a user of whom an account is held", () => fixture.account, () => fixture.user],
      ["an account whose user is held", () => fixture.user, () => fixture.account],
    ])("does not start: %s", async (_, held, asked) => {
      await storeAll();
      await hold(held());
      const { length } = await remains(fixture.user.id, fixture.account.id);
      await erase(asked());
      expect(await remains(fixture.user.id, fixture.account.id)).toHaveLength(length);
      expect(await report()).toMatchObject({ isDone: true, isFound: false, isHeld: true, removed: {} });
      expect(await isErased(asked())).toEqual([]);
      expect(logged()).toContain("ERASURE_HELD");
    });

    test("does not start either if the provider reports that the user was deleted", async () => {
      await storeAll();
      await hold(fixture.user);
      await fixture.ask(eraseTask(fixture.user, "deleted"));
      await run();
      expect(await isErased(fixture.user)).toEqual([]);
      expect(logged()).toEqual(["ERASURE_HELD"]);
    });

    test("removes everything despite the hold with a flag: versions, and the hold itself", async () => {
      await storeAll();
      const { storing } = fixture;
      for (const text of ["[1]", "[2]", "[3]"])
        await storing.document(fixture.account, "jobs", text, { retainDays: 30 });
      await hold(fixture.user);
      await fixture.ask({ ...eraseTask(fixture.user, "operator", [], "followed"), isDespiteHold: true });
      await run();
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
      expect(await report()).toMatchObject({ isFound: true, removed: { holds: 1, versions: 2 } });
    });

    test("continues if it began before the hold was set", async () => {
      await storeAll();
      const { tombstones, digestOf } = fixture.dependencies;
      await tombstones.place(await digestOf(fixture.user), undefined);
      await hold(fixture.user);
      await erase(fixture.user);
      expect(await remains(fixture.user.id, fixture.account.id)).toEqual([]);
    });
  });
});
