import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type EraseTask, eraseTask, readEraseTask } from "../../../domain/recovery/erasure.ts";
import { type Answer, applyProviderAnswer } from "../../../domain/state/state.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, relayFixture } from "../support/relay-fixture.ts";
import { failedFrom } from "../support/relayed-records.ts";

await describeOnTables("the relay", (tables) => {
  const fixture = relayFixture(tables);
  const { record, relayed, invoke, pump, bodiesOf, tasks, messages, itemsBy } = fixture;

  describe("an erased subject", () => {
    const accountId = randomUUID();
    const userId = randomUUID();
    const account: Subject = { kind: "account", id: accountId };
    const user: Subject = { kind: "user", id: userId };
    const lateTask = (subject: Subject, namedWith: readonly Subject[]) => ({
      ...eraseTask(subject, "arrived late", namedWith),
      erased: [subject],
    });
    const eraseTasks = async () => (await bodiesOf(fixture.eraseQueueUrl)).map(readEraseTask);
    const nothingLeft = async () => {
      expect(await tasks()).toEqual([]);
      expect(await messages(fixture.subscribers.everything.queueUrl)).toEqual([]);
    };

    test("has no more consequences: later data of the user or an account is erased with its subjects", async () => {
      await fixture.bury(user);
      const late = accountEvent({ accountId, userId });
      await record(late, accountEvent({ accountId, userId }));
      await pump();
      await nothingLeft();
      // One task for both, under the id of the first.
      const task = { ...lateTask(user, [account]), claimed: [account], correlationId: expect.any(String) };
      expect(await eraseTasks()).toEqual<EraseTask[]>([task]);
      expect(await itemsBy("STATE")).toEqual([]);
      expect(fixture.entries).toContainEqual({ code: "ARRIVED_LATE", correlationId: late.id });
    });

    test("may be an account whose user is not erased", async () => {
      await fixture.bury(account);
      const late = accountEvent({ accountId, userId });
      await record(late, accountEvent({ kind: "users", type: "user.created", userId }));
      await pump();
      expect(await eraseTasks()).toEqual([{ ...lateTask(account, [user]), correlationId: late.id }]);
      expect((await messages(fixture.subscribers.everything.queueUrl)).map(({ subject }) => subject)).toEqual(
        [`user/${userId}`],
      );
    });

    test("is recognized by an account's state too, which a concurrent batch wrote", async () => {
      const late = accountEvent({ accountId, userId });
      await record(late);
      const [event] = await relayed();
      await invoke([event]);
      await fixture.bury(user);
      await pump(1);
      await nothingLeft();
      expect(await eraseTasks()).toEqual([
        { ...lateTask(user, [account]), claimed: [account], correlationId: late.id },
      ]);
    });

    test("is recognized by an endpoint event that names the user: nothing is read", async () => {
      await fixture.bury(user);
      await record(
        accountEvent({ accountId, userId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" }),
      );
      await pump();
      await nothingLeft();
      expect(await eraseTasks()).toMatchObject([{ subject: user, namedWith: [account] }]);
    });

    test("is looked up by one read for the whole batch, which also reads the records to update", async () => {
      // The environment has then read its key.
      await record(accountEvent({ accountId, userId }));
      await invoke(await relayed());
      const events = Array.from({ length: 30 }, () => accountEvent({ userId: randomUUID() }));
      const data = events.map((event) => ({ ...event, id: randomUUID(), type: "endpoint.updated" as const }));
      await record(...events, ...data.map((event) => ({ ...event, endpoint: "income" })));
      const reads = () =>
        ["BatchGetItem", "GetItem", "Query"].map(
          (name) => fixture.system.calls().get(`test dynamodb:${name}`) ?? 0,
        );
      const [batches = 0, ...others] = reads();
      await invoke(await relayed());
      expect(reads()).toEqual([batches + 1, ...others]);
      expect(await itemsBy("STATE")).toHaveLength(31);
    });

    test("is never guessed: while the read fails, nothing is relayed and the batch is retried", async () => {
      await record(accountEvent({ accountId, userId }), accountEvent());
      const records = await relayed();
      const end = fixture.system.fail("dynamodb:BatchGetItem");
      try {
        expect(await invoke(records)).toEqual(failedFrom(records[0]));
      } finally {
        end();
      }
      await nothingLeft();
      expect(await itemsBy("STATE")).toEqual([]);
    });
  });

  describe("a user who is deleted at the provider", () => {
    const deletion = (facts: Partial<IncomeEvent> = {}) =>
      accountEvent({ kind: "users", type: "user.deleted", userId: randomUUID(), ...facts });

    test("is not erased if the setting is off", async () => {
      await record(deletion({ eventId: "e-1" }));
      await pump();
      expect(await bodiesOf(fixture.eraseQueueUrl)).toEqual([]);
    });

    test.each([
      ["an id of its own", { eventId: "e-1" }, false],
      ["a time", { time: "2026-11-21T11:59:00.000Z" }, false],
      ["neither id nor time", {}, false],
      ["a time that the provider never sent", { time: "2026-11-21T11:59:00.000Z" }, true],
    ])(
      "is erased only once the provider has confirmed it, after an event with %s",
      async (_, facts, found) => {
        fixture.erasesOnDeletion = true;
        const event = deletion(facts);
        const subject = { kind: "user", id: event.userId ?? "" } as const;
        await record(event);
        const seen = await pump();
        expect(await messages(fixture.subscribers.everything.queueUrl)).toMatchObject([
          { type: "user.deleted", data: { deleted: false, unconfirmed: true } },
        ]);
        expect(await bodiesOf(fixture.eraseQueueUrl)).toEqual([]);
        const answered = versionedRecords(fixture.system.dynamodb, fixture.table.name);
        await answered.reviseState(subject, (state) =>
          applyProviderAnswer(state, 1, { found }, { at: new Date() }),
        );
        await pump(seen);
        expect((await bodiesOf(fixture.eraseQueueUrl)).map(readEraseTask)).toEqual(
          found ? [] : [eraseTask(subject, "deleted")],
        );
      },
    );

    test("does not lead to the erasure of another subject: deleting an account does not delete its user", async () => {
      fixture.erasesOnDeletion = true;
      await record(accountEvent({ type: "account.deleted", eventId: "e-2", userId: randomUUID() }));
      await pump();
      expect(await bodiesOf(fixture.eraseQueueUrl)).toEqual([]);
    });
  });

  test("a deletion that only reconciliation reported erases nobody, is taken back at the subscriber as well, and later webhooks apply", async () => {
    fixture.erasesOnDeletion = true;
    const ids = { accountId: randomUUID(), userId: randomUUID() };
    const event = (type: "connected" | "deleted" | "restored" | "disconnected") =>
      accountEvent({
        ...ids,
        type: `account.${type}`,
        ...(type !== "disconnected" && { reconciled: true }),
      });
    const known = versionedRecords(fixture.system.dynamodb, fixture.table.name);
    const subject = { kind: "account", id: ids.accountId } as const;
    const answer = (given: Answer) =>
      known.reviseState(subject, (state) =>
        applyProviderAnswer(state, state?.version ?? 0, given, { at: new Date() }),
      );
    const told = async () =>
      (await messages(fixture.subscribers.accounts.queueUrl))
        .toSorted((one, other) => (one.sequence < other.sequence ? -1 : 1))
        .map(({ type, data }) => ({ type, data }));

    await record(event("connected"));
    let seen = await pump();
    await record(event("deleted"));
    seen = await pump(seen);
    await answer({ found: false });
    seen = await pump(seen);
    expect(await told()).toMatchObject([
      { type: "account.connected" },
      { type: "account.deleted", data: { deleted: false, unconfirmed: true, reconciled: true } },
      { type: "account.confirmed", data: { deleted: true } },
    ]);

    await record(event("restored"));
    seen = await pump(seen);
    await answer({ found: true, connected: true });
    seen = await pump(seen);
    await record(event("disconnected"));
    await pump(seen);
    expect(await told()).toMatchObject([
      { type: "account.restored", data: { deleted: false, unconfirmed: true } },
      { type: "account.confirmed", data: { deleted: false, connected: true } },
      { type: "account.disconnected", data: { deleted: false, outcome: "unconfirmed" } },
    ]);
    expect(await bodiesOf(fixture.eraseQueueUrl)).toEqual([]);
  });
});
