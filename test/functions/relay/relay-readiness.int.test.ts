import { randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { expect, test } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { contentOf } from "../../../adapters/dynamodb/documents.ts";
import { readinessKey } from "../../../adapters/dynamodb/keys.ts";
import { readinessRecords, versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import type { EventType } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { MessageOf } from "../../../domain/message/message-schemas.ts";
import { deadlineKeeper } from "../../../functions/readiness/deadline-keeper.ts";
import { describeOnTables } from "../../support/engines.ts";
import { deliver, keptLog } from "../support/lambda.ts";
import { accountEvent, relayFixture } from "../support/relay-fixture.ts";
import { savedDocuments } from "../support/saved-documents.ts";

await describeOnTables("an account that is waited for", (tables) => {
  const fixture = relayFixture(tables);
  const { record, pump, invoke, relayed, messages, bodiesOf } = fixture;

  /**
   * Delivers the messages of the deadlines' queue.
   * @returns the visibility timeout of each that remains
   */
  async function passDeadlines(clock = () => Date.now()): Promise<readonly number[]> {
    const { dynamodb } = fixture.system;
    const read = batchingReader(dynamodb, fixture.table.name);
    const write = batchingWriter(dynamodb, fixture.table.name);
    const hidden: number[] = [];
    const keep = deadlineKeeper({
      records: readinessRecords(read, write),
      loadState: versionedRecords(dynamodb, fixture.table.name).loadState,
      clock,
      changeVisibility: async (_, all) => {
        hidden.push(...all.map(({ seconds }) => seconds));
        return all.map(() => undefined);
      },
      send: async (_, all) => all.map(() => undefined),
      queue: { url: "deadlines", deadLetterUrl: "dead deadlines" },
      log: keptLog().log,
    });
    const left = await deliver(fixture.system, fixture.deadlineQueueUrl, keep);
    expect(left).toHaveLength(hidden.length);
    return hidden;
  }

  const begin = Date.now() - 3_600_000;

  /** An account with facts at intervals of a second. */
  function waitedFor(accountId: string = randomUUID(), userId = `u${accountId}`) {
    fixture.readiness = { endpoints: ["income", "employment"], deadlineSeconds: 60 };
    const subject: Subject = { kind: "account", id: accountId };
    let second = 0;
    const next = () => begin + 1_000 * ++second;
    const read = async (endpoint: string, text: string | undefined) => {
      const asOf = next();
      const call = { asOf, name: { endpoint }, userId, readFor: asOf };
      await savedDocuments(fixture.system, fixture.table, fixture.bucket).save(subject, text, call);
    };
    return {
      accountId,
      userId,
      subject,
      event: async (name: "connected" | "disconnected" | "deleted") => {
        const time = new Date(next()).toISOString();
        const type: EventType = `account.${name}`;
        await record(accountEvent({ accountId, userId, type, time, receivedAt: time }));
      },
      read,
      readBoth: async () => {
        for (const endpoint of ["income", "employment"]) await read(endpoint, "[1]");
      },
    };
  }

  const announced = async () =>
    (await messages(fixture.subscribers.everything.queueUrl)).filter(
      (message): message is MessageOf<"account.ready"> => message.type === "account.ready",
    );
  const told = async (type: "account.incomplete" | "user.ready") =>
    (await messages(fixture.subscribers.everything.queueUrl)).filter((message) => message.type === type);

  test("is ready once each endpoint was read after it was connected, whatever is repeated", async () => {
    const account = waitedFor();
    await account.read("income", "[0]");
    await account.event("connected");
    await account.read("income", "[1]");
    await account.read("trips", "[1]");
    let seen = await pump();
    expect(await announced()).toEqual([]);
    await account.read("employment", "[2]");
    seen = await pump(seen);
    await account.event("connected");
    await account.read("income", "[3]");
    seen = await pump(seen);
    const subject = `account/${account.accountId}/readiness`;
    const ready = {
      type: "account.ready",
      id: `${subject}.2`,
      subject,
      sequence: "2".padStart(20, "0"),
      data: { accountId: account.accountId, userId: account.userId },
    };
    const [message, ...others] = await announced();
    expect(others).toEqual([]);
    expect(message).toMatchObject(ready);
    expect(message?.data.connectedSince).toBe(new Date(begin + 2_000).toISOString());
    expect(message?.data.documents).toMatchObject([
      { endpoint: "income", sha256: contentOf("[1]").digest },
      { endpoint: "employment", sha256: contentOf("[2]").digest },
    ]);
    for (const { href, version } of message?.data.documents ?? [])
      expect(href).toMatch(`?version=${version}`);

    // Repeats all of it: announcements have the same ids, and there are no others.
    await invoke(await relayed());
    await pump(seen);
    expect(await announced()).toEqual([message]);
  });

  test("is ready by what was read before the relay came to its connection", async () => {
    const account = waitedFor();
    await account.event("connected");
    const seen = (await relayed()).length;
    await account.readBoth();
    await invoke((await relayed()).slice(0, seen));
    const all = await relayed();
    // The documents' own records come after that of the state.
    await invoke(all.slice(seen).filter(({ dynamodb }) => dynamodb?.Keys?.sk?.S === "STATE"));
    await pump(all.length);
    expect(await announced()).toHaveLength(1);
  });

  test("is incomplete at its deadline, once, with the missing endpoints and reasons, and ready when they arrive", async () => {
    const account = waitedFor();
    await account.event("connected");
    await account.read("employment", undefined);
    let seen = await pump();
    const [deadline = ""] = await bodiesOf(fixture.deadlineQueueUrl);
    const again = () =>
      fixture.system.sqs.send(
        new SendMessageCommand({ QueueUrl: fixture.deadlineQueueUrl, MessageBody: deadline }),
      );
    await again();
    expect(await passDeadlines(() => begin + 30_000)).toEqual([31]);
    await again();
    await again();
    expect(await passDeadlines()).toEqual([]);
    seen = await pump(seen);
    expect(await told("account.incomplete")).toMatchObject([
      {
        time: new Date(begin + 61_000).toISOString(),
        data: {
          missing: [
            { endpoint: "income", reason: "notAnnounced" },
            { endpoint: "employment", reason: "none" },
          ],
          documents: [],
        },
      },
    ]);
    await account.readBoth();
    await pump(seen);
    expect(await announced()).toHaveLength(1);
    await again();
    expect(await passDeadlines()).toEqual([]);
  });

  test("is ready at its deadline's check if the setting no longer names an endpoint", async () => {
    const account = waitedFor();
    await account.event("connected");
    const seen = await pump();
    fixture.readiness = { endpoints: ["income"], deadlineSeconds: 60 };
    await account.readBoth();
    await pump(seen);
    await passDeadlines();
    await pump(seen);
    expect(await announced()).toHaveLength(1);
  });

  test("waits for the provider's answer if it is unconfirmed at its deadline", async () => {
    const { accountId, userId, event } = waitedFor();
    await event("connected");
    await record(accountEvent({ accountId, userId, type: "account.disconnected" }));
    await pump();
    expect(await passDeadlines()).toEqual([60]);
  });

  test("that was erased before its deadline stays erased", async () => {
    const account = waitedFor();
    await account.event("connected");
    await pump();
    const Key = marshall(readinessKey(account.subject));
    await fixture.system.dynamodb.send(new DeleteItemCommand({ TableName: fixture.table.name, Key }));
    expect(await passDeadlines()).toEqual([]);
    expect(await fixture.itemsBy("READINESS")).toEqual([]);
  });

  test.each([0, 1, 2])(
    "is erased after %i of its documents, announces nothing and leaves no item",
    async (count) => {
      const account = waitedFor();
      await account.event("connected");
      let seen = await pump();
      for (const endpoint of ["income", "employment"].slice(0, count)) await account.read(endpoint, "[1]");
      await fixture.bury(account.subject);
      await account.readBoth();
      seen = await pump(seen);
      expect(await announced()).toEqual([]);
      expect((await bodiesOf(fixture.eraseQueueUrl)).length).toBeGreaterThan(0);
      await pump(seen);
    },
  );

  test("is announced with its user's other accounts, and again only when these change", async () => {
    fixture.attributes = { asks: false };
    const [one, other] = [waitedFor("a", "u"), waitedFor("b", "u")];
    const created = {
      kind: "users",
      type: "user.created",
      userId: "u",
      attributes: { loanId: "L" },
    } as const;
    const { accountId: _, ...ofUser } = accountEvent(created);
    await record(ofUser);
    let seen = await pump();
    for (const account of [one, other]) await account.event("connected");
    await one.readBoth();
    seen = await pump(seen);
    expect(await told("user.ready"), "the other waits").toEqual([]);
    await other.event("disconnected");
    seen = await pump(seen);
    const listed = { accountId: "a", status: "ready", connectedSince: new Date(begin + 1_000).toISOString() };
    const [first, ...none] = await told("user.ready");
    expect(none).toEqual([]);
    expect(first).toMatchObject({
      id: "user/u/readiness.1",
      subject: "user/u/readiness",
      data: { userId: "u", accounts: [listed], attributes: { loanId: "L" } },
    });
    await other.event("connected");
    seen = await pump(seen);
    await passDeadlines();
    seen = await pump(seen);
    const [again] = await told("user.ready");
    const missed = { accountId: "b", status: "incomplete" };
    expect(again).toMatchObject({ id: "user/u/readiness.2", data: { accounts: [listed, missed] } });
    await invoke(await relayed());
    await pump(seen);
    expect(await told("user.ready")).toEqual([first, again]);
  });

  test("is not followed if the stage has no such setting", async () => {
    const account = waitedFor();
    fixture.readiness = undefined;
    await account.event("connected");
    await account.readBoth();
    await pump();
    expect(await announced()).toEqual([]);
    expect(await fixture.itemsBy("READINESS")).toEqual([]);
    const [{ state } = {}] = await fixture.itemsBy("STATE");
    expect(state).not.toHaveProperty("connection");
  });
});
