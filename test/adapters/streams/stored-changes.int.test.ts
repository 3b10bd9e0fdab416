import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { documentStore } from "../../../adapters/dynamodb/documents.ts";
import { eventTable, linkTable } from "../../../adapters/dynamodb/event-table.ts";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import {
  type StoredChanges,
  type StoredPage,
  storedChanges,
} from "../../../adapters/streams/stored-changes.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { subjectOf } from "../../../domain/event/subjects.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { documentRead, eventOf } from "../../domain/samples.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";
import { receiptOf } from "../dynamodb/receipt.ts";

await describeOnEachTable("a subject's stored changes", (tables) => {
  const made = systemWithTable(tables);
  let stored: StoredChanges;
  beforeEach(async () => {
    made.table = await made.system.createTable();
    stored = storedChanges(made.system.dynamodb, made.table.name);
  });

  const store = async (event: IncomeEvent, isProcessed = true) => {
    const body = { type: "text", text: "x".repeat(1000) } as const;
    await eventTable(made.system.dynamodb, made.table.name, 30)([receiptOf(event, body, "m1")]);
    if (isProcessed) {
      await versionedRecords(made.system.dynamodb, made.table.name).reviseState(subjectOf(event), (state) =>
        applyEvent(state, event, 1),
      );
    }
    return event;
  };
  const put = (item: Record<string, unknown>) =>
    made.system.dynamodb.send(new PutItemCommand({ TableName: made.table.name, Item: marshall(item) }));
  const collect = async (pages: AsyncIterable<StoredPage>) => {
    const all: StoredPage[] = await Array.fromAsync(pages);
    return {
      found: all.flatMap(({ found }) => found),
      unreadable: all.flatMap(({ unreadable }) => unreadable),
      examined: all.reduce((sum, { examined }) => sum + examined, 0),
    };
  };
  const namesOf = async (pages: AsyncIterable<StoredPage>) =>
    (await collect(pages)).found
      .map(({ change }) =>
        change.type === "event" ? change.event.id : `${change.type} ${change.after.subject.id}`,
      )
      .toSorted();

  const userId = "user-1";
  const account = (id: string, more: Partial<IncomeEvent> = {}) =>
    eventOf("account.connected", { accountId: id, ...more });

  test("of a user includes the user's items, those of linked accounts, and those of accounts that its events name", async () => {
    const user = await store(eventOf("user.created", { userId }));
    const linked = await store(account("linked"));
    const named = await store(account("named", { userId }));
    await linkTable(batchingWriter(made.system.dynamodb, made.table.name))(userId, "linked");
    const linkedAccount = { kind: "account", id: "linked" } as const;
    const read = batchingReader(made.system.dynamodb, made.table.name);
    const documents = documentStore(
      read,
      batchingWriter(made.system.dynamodb, made.table.name),
      overflowBucket("unused"),
    );
    const document = documentRead(undefined, undefined, { asOf: 1, subject: linkedAccount });
    await documents.save(undefined, document, undefined);
    await store(account("other", { userId: "user-2" }));
    expect(await namesOf(stored.of({ kind: "user", id: userId }))).toEqual(
      [
        "document linked",
        "state linked",
        "state named",
        `state ${userId}`,
        user.id,
        linked.id,
        named.id,
      ].toSorted(),
    );
  });

  test("of an account includes its own partition, and its events in its user's", async () => {
    const own = await store(account("mine"));
    const ofUser = await store(account("mine", { userId }));
    await store(account("other", { userId }));
    await store(eventOf("user.created", { userId }));
    expect(await namesOf(stored.of({ kind: "account", id: "mine" }))).toEqual(
      ["state mine", own.id, ofUser.id].toSorted(),
    );
  });

  test("resumes after any item, for a subject and for the table, and returns each once", async () => {
    for (let index = 0; index < 4; index += 1) await store(account(`account-${index}`, { userId }));
    for (const pages of [
      (after?: Key) => stored.all(after),
      (after?: Key) => stored.of({ kind: "user", id: userId }, after),
    ]) {
      const { found } = await collect(pages());
      expect(found).toHaveLength(8);
      for (const [index, { key }] of found.entries()) {
        expect((await collect(pages(key))).found).toEqual(found.slice(index + 1));
      }
    }
  });

  test("skips items without consequences, and reports unreadable ones", async () => {
    const event = await store(account("mine"));
    await put({ pk: "ACCOUNT#mine", sk: "LEASE#income", content: "{}" });
    await put({ pk: "PROVIDER", sk: "BREAKER", state: "closed" });
    await put({ pk: "ACCOUNT#bad", sk: "STATE", state: { subject: "nobody" } });
    await put({ pk: "ACCOUNT#later", sk: "STATE", schemaVersion: 99, state: {} });
    const { found, unreadable, examined } = await collect(stored.all());
    expect(found.map(({ change }) => change.type).toSorted()).toEqual(["event", "state"]);
    const sentAt = Date.parse(event.receivedAt);
    expect(found.find(({ change }) => change.type === "event")?.change).toEqual({
      type: "event",
      event,
      receipts: { count: 1, first: "m1", last: "m1", firstAt: sentAt, since: sentAt },
      countBefore: 0,
    });
    expect(unreadable.toSorted((one, other) => (one.pk < other.pk ? -1 : 1))).toEqual([
      { pk: "ACCOUNT#bad", sk: "STATE" },
      { pk: "ACCOUNT#later", sk: "STATE" },
    ]);
    expect(examined).toBe(6);
  });
});
