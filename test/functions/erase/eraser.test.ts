import { randomUUID } from "node:crypto";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { ChangeMessageVisibilityCommand, DeleteMessageCommand } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dataClaims } from "../../../adapters/dynamodb/claims.ts";
import { contentOf } from "../../../adapters/dynamodb/document-store.ts";
import { readReport } from "../../../adapters/erasure/erasure-report.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import { writeEnvelope } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { nameOf, ownerOf, type Subject } from "../../../domain/event/subjects.ts";
import { want } from "../../../domain/fetch/document.ts";
import { readTask, writeTask } from "../../../domain/fetch/tasks.ts";
import { type EraseTask, eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { judge } from "../../../domain/state/state.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { describeOnTables, startTestSystem, type TestSystem } from "../../support/engines.ts";
import { createWorld, erasedAt, source, type World } from "../support/erasing.ts";
import { context, deliver, sqsEvent } from "../support/lambda.ts";

const large = "x".repeat(400_000);
const digits = "9".repeat(20);

function eventOf(facts: Partial<IncomeEvent>): IncomeEvent {
  return {
    id: randomUUID(),
    kind: "accounts",
    type: "account.connected",
    receivedAt: "2026-11-21T11:00:00.000Z",
    ...facts,
  };
}

await describeOnTables("the eraser", (tables) => {
  let system: TestSystem;
  let world: World;
  let user: Subject;
  let account: Subject;
  let other: Subject;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    world = await createWorld(system);
    user = { kind: "user", id: randomUUID() };
    account = { kind: "account", id: randomUUID() };
    other = { kind: "account", id: randomUUID() };
  });

  /** Stores an event as the consumer does, and what the relay makes of it. */
  async function store(facts: Partial<IncomeEvent>, bodyObject?: string): Promise<void> {
    const { storing } = world;
    const event = eventOf(facts);
    const body = { as: "object", key: bodyObject ?? "", of: "text", bytes: 1 } as const;
    await storing.record({ event, body: bodyObject === undefined ? { as: "text", text: "{}" } : body });
    const { accountId, endpoint } = event;
    if (endpoint !== undefined && accountId !== undefined) {
      const subject = { kind: "account", id: accountId } as const;
      await storing.revisions.dataSet(subject, { endpoint }, (known) =>
        want(known, subject, { endpoint }, { event, receipts: 1 }),
      );
    } else {
      await storing.revisions.state(
        accountId === undefined ? ownerOf(event) : { kind: "account", id: accountId },
        (state) => judge(state, event, 1),
      );
    }
    if (event.userId !== undefined && accountId !== undefined) await storing.link(event.userId, accountId);
  }

  /** A user with an account that has everything which can be kept of one, beside an account of another user. */
  async function storeAll(): Promise<void> {
    const { storing, overflow, put } = world;
    const [userId, accountId] = [user.id, account.id];
    await put(overflow.name, "bodies/accounts/one", "{}");
    await store({ kind: "users", type: "user.created", userId });
    await store({ userId, accountId }, "bodies/accounts/one");
    await store({ accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
    await storing.storeContent(account, { endpoint: "income" }, 1, contentOf("{}"));
    await storing.storeContent(account, { endpoint: "profile" }, 1, contentOf(large));
    // A later fetch has superseded the object before it, which no item points to any more.
    await storing.storeContent(account, { endpoint: "profile" }, 2, contentOf(`${large}2`));
    await keptPages(storing.overflow).keep(account, { endpoint: "income" }, [Buffer.from("[]")]);
    await dataClaims(system.dynamodb, world.table.name, 9, () => erasedAt)(
      account,
      { endpoint: "income" },
      1,
      erasedAt,
    );
    await store({ userId: randomUUID(), accountId: other.id });
    await storing.storeContent(other, { endpoint: "profile" }, 1, contentOf(large));
  }

  /** Delivers until the queue is empty. @returns how many messages that took */
  async function run(handler = eraser(world.dependencies)): Promise<number> {
    for (let count = 0; ; count += 1) {
      const [waiting] = await system.receive(world.queueUrl);
      if (waiting === undefined) return count;
      await system.send(world.queueUrl, waiting.Body ?? "");
      await drop(waiting.ReceiptHandle);
      await deliver(system, world.queueUrl, handler);
    }
  }
  const drop = (ReceiptHandle: string | undefined) =>
    system.sqs.send(new DeleteMessageCommand({ QueueUrl: world.queueUrl, ReceiptHandle }));
  const showAgain = (ReceiptHandle: string | undefined) =>
    system.sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: world.queueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
    );
  const ask = (task: EraseTask) => system.send(world.queueUrl, writeEraseTask(task));
  const erase = async (subject: Subject, namedWith: readonly Subject[] = []) => {
    await ask(eraseTask(subject, "operator", namedWith, "followed"));
    await run();
  };
  /** Keys of all that names one of some ids. */
  const remains = async (...ids: readonly string[]) => {
    const items = (await world.table.all()).map((item) => JSON.stringify(item));
    const keys = await Promise.all(
      [world.overflow, world.failures, world.archive, world.log].map((bucket) => bucket.keys()),
    );
    return [...items, ...keys.flat()].filter((text) => ids.some((id) => text.includes(id)));
  };
  const report = () => readReport(system.dynamodb, world.table.name, "followed");
  const bodies = async (url: string) =>
    (await system.drain(url)).map(({ Body = "" }): unknown => JSON.parse(Body));
  const isErased = async (...subjects: readonly Subject[]) =>
    [...(await world.findErased(subjects))].toSorted();

  describe("a user", () => {
    test("goes with all accounts: every item, and every object, superseded ones and pages too", async () => {
      await storeAll();
      await erase(user);
      expect(await remains(user.id, account.id)).toEqual([]);
      expect(await world.overflow.keys()).toEqual([
        expect.stringContaining(`data/account/${other.id}/profile/`),
      ]);
      expect(await world.table.item(`ACCOUNT#${other.id}`, "STATE")).toBeDefined();
    });

    test("is reported by what was removed", async () => {
      await storeAll();
      await erase(user);
      expect(await report()).toEqual({
        step: "messages",
        isDone: true,
        subjects: 2,
        removed: {
          events: 3,
          states: 2,
          "data sets": 1,
          contents: 2,
          claims: 1,
          links: 1,
          bodies: 1,
          data: 2,
          pages: 1,
        },
        incomplete: [],
      });
    });

    test("is reported by the erasure that removed it, where two of them meet", async () => {
      await storeAll();
      const { records } = world.dependencies;
      const overtaken: typeof records = {
        ...records,
        remove: async (record) => {
          await records.remove(record);
          return records.remove(record);
        },
      };
      await ask(eraseTask(user, "operator", [], "followed"));
      await run(eraser({ ...world.dependencies, records: overtaken }));
      expect(await report()).toMatchObject({ isDone: true, subjects: 2 });
      expect((await report())?.removed).toEqual({ data: 2, pages: 1 });
    });

    test("leaves tombstones of digests, so that the relay knows the user and each account", async () => {
      await storeAll();
      await erase(user);
      expect(await isErased(user, account, other)).toEqual([nameOf(account), nameOf(user)].toSorted());
      const stones = (await world.table.all()).filter(({ sk }) => sk === "TOMBSTONE");
      const days = 100 * 86_400;
      for (const stone of stones) {
        expect(stone).toMatchObject({
          erasedAt: erasedAt.toISOString(),
          expiresAt: erasedAt.getTime() / 1000 + days,
        });
      }
    });

    test("has tombstone and log, and so has each account, before anything is removed", async () => {
      await storeAll();
      const done: string[] = [];
      const end = system.intercept(async ({ action, resources }, moment) => {
        const isLog = resources.some((arn) => arn.includes(world.log.name));
        if (moment === "after" && (/UpdateItem|DeleteItem|DeleteObject/.test(action) || isLog))
          done.push(action);
        return undefined;
      });
      await ask(eraseTask(user, "operator"));
      for (let step = 0; step < 2; step += 1)
        await deliver(system, world.queueUrl, eraser(world.dependencies));
      end();
      const firstRemoval = done.findIndex((action) => /^(dynamodb:DeleteItem|s3:DeleteObject)$/.test(action));
      expect(done.slice(0, firstRemoval)).toEqual([
        "dynamodb:UpdateItem",
        "s3:PutObject",
        "dynamodb:UpdateItem",
        "s3:PutObject",
      ]);
    });

    test("is told to subscribers once, with each account, the newest of all that they know of them", async () => {
      await storeAll();
      await erase(user);
      await erase(user);
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
      expect(await bodies(world.subscriber)).toEqual([
        message(user, { userId: user.id }),
        message(account, { accountId: account.id }),
      ]);
    });

    test("is told of with the same message by every erasure that finds nobody told yet", async () => {
      const { tombstones } = world.dependencies;
      const untold = { ...tombstones, markTold: async () => undefined };
      const tellOf = async (id: string) => {
        await ask(eraseTask(user, "operator", [], id));
        await run(eraser({ ...world.dependencies, tombstones: untold }));
        return bodies(world.subscriber);
      };
      const [message] = await tellOf("the first");
      expect(message).toMatchObject({ type: "user.erased", correlationid: "the first" });
      expect(await tellOf("a later one")).toEqual([message, message]);
    });

    test("takes no account along that is another user's by its own records", async () => {
      await store({ userId: user.id, accountId: other.id });
      const owner = randomUUID();
      await store({ userId: owner, accountId: account.id });
      // An event of this user names the account of the other.
      await world.storing.record({
        event: eventOf({ userId: user.id, accountId: account.id }),
        body: { as: "text", text: "{}" },
      });
      await erase(user);
      expect(await world.table.item(`ACCOUNT#${account.id}`, "STATE")).toBeDefined();
      expect(await isErased(account, other)).toEqual([nameOf(other)]);
      expect(await remains(user.id, other.id)).toEqual([]);
    });

    test("who is not known leaves a tombstone, too: what comes later is erased", async () => {
      await erase(user);
      expect(await isErased(user)).toEqual([nameOf(user)]);
      expect(await report()).toMatchObject({ isDone: true, subjects: 1, removed: {} });
    });
  });

  describe("an account", () => {
    test("goes with its events among those of its user, who stays", async () => {
      await storeAll();
      await erase(account);
      expect(await remains(account.id)).toEqual([]);
      expect(await world.table.item(`USER#${user.id}`, "STATE")).toBeDefined();
      expect((await world.table.items(`USER#${user.id}`)).map(({ sk }) => String(sk).split("#")[0])).toEqual([
        "EVENT",
        "STATE",
      ]);
      expect(await bodies(world.subscriber)).toMatchObject([
        { type: "account.erased", data: { accountId: account.id } },
      ]);
    });

    test("goes with its events among those of a user whom only its data names", async () => {
      const facts = { userId: user.id, accountId: account.id };
      const told = eventOf({ ...facts, kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
      await world.storing.record({ event: eventOf(facts), body: { as: "text", text: "{}" } });
      await world.storing.revisions.dataSet(account, { endpoint: "income" }, (known) =>
        want(known, account, { endpoint: "income" }, { event: told, receipts: 1 }),
      );
      await erase(account);
      expect(await remains(account.id)).toEqual([]);
    });

    test("that arrives late in the records of a user is found there by the user's name in the task", async () => {
      await erase(account);
      await world.storing.record({
        event: eventOf({ userId: user.id, accountId: account.id }),
        body: { as: "text", text: "{}" },
      });
      await ask(eraseTask(account, "arrived late", [user]));
      await run();
      expect(await remains(account.id)).toEqual([]);
    });
  });

  describe("what arrives late", () => {
    test("is removed without another message, and costs no look at the dead letters", async () => {
      await storeAll();
      await erase(user);
      await bodies(world.subscriber);
      await storeAll();
      world.sweeps.deadLetters = true;
      const receives = () => system.calls().get("test sqs:ReceiveMessage") ?? 0;
      const before = receives();
      await ask(eraseTask(user, "arrived late", [account]));
      const messages = await run();
      expect(await remains(user.id, account.id)).toEqual([]);
      expect(await bodies(world.subscriber)).toEqual([]);
      // Subjects, records and messages, two passes; each is received twice here.
      expect(messages).toBe(6);
      expect(receives() - before).toBeLessThanOrEqual(2 * messages + 2);
    });

    test("tells of an account that nobody knew to be the user's", async () => {
      await erase(user);
      await bodies(world.subscriber);
      await store({ userId: user.id, accountId: account.id });
      await ask(eraseTask(user, "arrived late", [account]));
      await run();
      expect(await remains(user.id, account.id)).toEqual([]);
      expect(await isErased(account)).toEqual([nameOf(account)]);
      expect(await bodies(world.subscriber)).toMatchObject([{ type: "account.erased" }]);
    });
  });

  describe("functions in flight", () => {
    test("may write data, claims, pages and links until the second pass, which removes them", async () => {
      await storeAll();
      await ask(eraseTask(user, "operator"));
      const handler = eraser(world.dependencies);
      // Subjects, records, dead letters, given-up changes, messages.
      for (let step = 0; step < 5; step += 1) await deliver(system, world.queueUrl, handler);
      expect(await remains(user.id, account.id)).toEqual([]);
      const { storing } = world;
      await storing.storeContent(account, { endpoint: "income" }, 1, contentOf(large));
      await keptPages(storing.overflow).keep(account, { endpoint: "income" }, [Buffer.from("[]")]);
      await storing.link(user.id, account.id);
      await run(handler);
      expect(await remains(user.id, account.id)).toEqual([]);
      expect(world.entries.map(({ code }) => code)).toEqual(["ERASED", "ERASED_AGAIN"]);
    });

    test("have had their time when the second pass begins", async () => {
      const sent: (number | undefined)[] = [];
      const { send } = world.dependencies;
      const handler = eraser({
        ...world.dependencies,
        settleSeconds: 1,
        send: (url, messages) => {
          sent.push(...messages.map(({ delayInSeconds }) => delayInSeconds));
          return send(url, messages);
        },
      });
      await ask(eraseTask(user, "operator"));
      for (let step = 0; step < 5; step += 1) await deliver(system, world.queueUrl, handler);
      expect(sent).toEqual([undefined, undefined, undefined, undefined, 1]);
    });
  });

  describe("dead letters", () => {
    beforeEach(() => {
      world.sweeps.deadLetters = true;
    });
    const envelope = (body: Parameters<typeof writeEnvelope>[0]["body"]) =>
      writeEnvelope({
        schemaVersion: 1,
        kind: "users",
        id: randomUUID(),
        receivedAt: erasedAt.toISOString(),
        body,
      });
    const payload = (id: string) => JSON.stringify({ event: "unheard_of", data: { user_id: id } });

    test("of one large body, delivered twice, go both, in queue and archive", async () => {
      const { deadLetters, overflow, put, letters } = world;
      await put(overflow.name, "bodies/users/large", payload(user.id));
      const body = envelope({ as: "object", key: "bodies/users/large", of: "text", bytes: 1 });
      for (const MessageBody of [body, body]) await system.send(deadLetters.users, MessageBody);
      await letters.put("users", { messageId: "m-1", sentAt: erasedAt, receives: 1, body });
      await erase(user);
      expect((await report())?.removed).toMatchObject({ "dead letters of users": 3 });
      expect(await system.drain(deadLetters.users)).toEqual([]);
      expect(await world.archive.keys()).toEqual([]);
      expect((await overflow.keys()).filter((key) => key.startsWith("bodies/"))).toEqual([]);
    });

    test("that name the user or an account are deleted, with the object of a large body; the others stay", async () => {
      await storeAll();
      const { deadLetters, overflow, put, letters } = world;
      await put(overflow.name, "bodies/users/large", payload(user.id));
      await put(overflow.name, "bodies/users/others", payload("somebody else"));
      const others = [
        envelope({ as: "text", text: payload("somebody else") }),
        envelope({ as: "object", key: "bodies/users/others", of: "text", bytes: 1 }),
        "no envelope",
      ];
      for (const body of [
        envelope({ as: "text", text: payload(user.id) }),
        envelope({ as: "base64", base64: Buffer.from(payload(user.id)).toString("base64") }),
        envelope({ as: "object", key: "bodies/users/large", of: "text", bytes: 1 }),
        ...others,
      ])
        await system.send(deadLetters.users, body);
      const task = (subject: Subject) => writeTask(readTask(subject, { endpoint: "income" }, 1));
      await system.send(deadLetters.fetch, task(account));
      await system.send(deadLetters.fetch, task(other));
      await system.send(
        deadLetters["subscriber/all"],
        JSON.stringify({ subject: `account/${account.id}/income` }),
      );
      const letter = { messageId: "m-1", sentAt: erasedAt, receives: 1, body: task(account) };
      await letters.put("fetch", letter);
      await letters.put("fetch", { ...letter, messageId: "m-2", body: task(other) });

      await erase(user);

      expect((await report())?.removed).toMatchObject({
        "dead letters of users": 3,
        "dead letters of fetch": 2,
        "dead letters of subscriber/all": 1,
      });
      expect((await system.drain(deadLetters.users)).map(({ Body }) => Body).toSorted()).toEqual(
        others.toSorted(),
      );
      expect((await system.drain(deadLetters.fetch)).map(({ Body }) => Body)).toEqual([task(other)]);
      expect(await system.drain(deadLetters["subscriber/all"])).toEqual([]);
      expect(await world.archive.keys()).toEqual([expect.stringContaining("m-2")]);
      expect((await overflow.keys()).filter((key) => key.startsWith("bodies/"))).toEqual([
        "bodies/users/others",
      ]);
    });

    test("that are too many for the function's time are told of, and hold nothing up", async () => {
      const handler = eraser(world.dependencies);
      await ask({ ...eraseTask(user, "operator", [], "followed"), next: "dead letters", erased: [user] });
      for (let count = 0; count < 11; count += 1)
        await system.send(world.deadLetters.fetch, `letter ${count}`);
      const times = [60_000, 60_000, 10_000];
      const invocation = { getRemainingTimeInMillis: () => times.shift() ?? 10_000 };
      await handler(sqsEvent(await system.receive(world.queueUrl)), invocation);
      expect(await report()).toMatchObject({ incomplete: ["fetch"], step: "given-up changes" });
    });
  });

  describe("changes that the relay gave up on", () => {
    const givenUp = (...ids: readonly string[]) =>
      JSON.stringify({
        requestContext: { condition: "RetryAttemptsExhausted" },
        payload: JSON.stringify({
          Records: ids.map((id) => ({ dynamodb: { Keys: { pk: { S: `USER#${id}` } } } })),
        }),
      });

    test("lose the records of the user, and keep those of others", async () => {
      const { failures, put } = world;
      await put(failures.name, "aws/lambda/mixed", givenUp("somebody", user.id, "else"));
      await put(failures.name, "aws/lambda/own", givenUp(user.id, user.id));
      await put(failures.name, "aws/lambda/others", givenUp("somebody"));
      await put(failures.name, "aws/lambda/unknown", `{"in": "another form", "of": "${user.id}"}`);
      await erase(user);
      expect((await failures.keys()).toSorted()).toEqual(["aws/lambda/mixed", "aws/lambda/others"]);
      expect((await failures.bytes("aws/lambda/mixed")).toString()).toBe(givenUp("somebody", "else"));
      expect((await failures.bytes("aws/lambda/others")).toString()).toBe(givenUp("somebody"));
      expect((await report())?.removed).toEqual({ "given-up changes": 4 });
    });
  });

  test("replays that name the user or have come to the user's records are removed", async () => {
    const put = (sk: string, replay: object) =>
      system.dynamodb.send(
        new PutItemCommand({ TableName: world.table.name, Item: marshall({ pk: "REPLAY", sk, replay }) }),
      );
    await put("of-the-user", { subject: user });
    await put("come-so-far", { after: { pk: `USER#${user.id}`, sk: "STATE" } });
    await put("of-another", { subject: other });
    await erase(user);
    expect((await world.table.items("REPLAY")).map(({ sk }) => sk)).toEqual(["of-another"]);
    expect((await report())?.removed).toEqual({ replays: 2 });
  });

  describe("killed at any of its calls", () => {
    test("it goes on when its message comes again, and erases all the same", async () => {
      await storeAll();
      world.sweeps.deadLetters = true;
      await system.send(world.deadLetters.users, "a dead letter");
      await ask(eraseTask(user, "operator", [], "followed"));
      const counts = new Map<string, number>();
      const ofTheTest = new Set([
        ...["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"],
        "dynamodb:GetItem",
      ]);
      // The first and the third call of each action: the engine has done it, and the function does not learn of it.
      const end = system.intercept(async ({ action }, moment) => {
        if (moment === "before" || ofTheTest.has(action)) return undefined;
        const count = (counts.get(action) ?? 0) + 1;
        counts.set(action, count);
        return count === 1 || count === 3
          ? { status: 503, errorType: "ServiceUnavailable", message: "killed" }
          : undefined;
      });
      const handler = eraser(world.dependencies);
      for (let tries = 0; !(await report())?.isDone && tries < 100; tries += 1) {
        const messages = await system.receive(world.queueUrl);
        const { batchItemFailures } = await handler(sqsEvent(messages), context);
        const failed = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
        for (const { MessageId = "", ReceiptHandle } of messages) {
          if (failed.includes(MessageId)) await showAgain(ReceiptHandle);
          else await drop(ReceiptHandle);
        }
      }
      end();
      expect(await report()).toMatchObject({ isDone: true, subjects: 2 });
      expect(await remains(user.id, account.id)).toEqual([]);
      expect(await isErased(user, account)).toHaveLength(2);
      expect([...counts.keys()]).toEqual(
        expect.arrayContaining([
          ...["dynamodb:DeleteItem", "dynamodb:UpdateItem", "s3:DeleteObject", "s3:PutObject"],
          ...["sqs:SendMessageBatch", "sqs:ChangeMessageVisibilityBatch"],
        ]),
      );
    });

    test("it can be done twice at once", async () => {
      await storeAll();
      await ask(eraseTask(user, "operator"));
      await ask(eraseTask(user, "operator"));
      await Promise.all([run(), run()]);
      await run();
      expect(await remains(user.id, account.id)).toEqual([]);
    });
  });

  test("a partition that is too large for one run is erased by several", async () => {
    for (let count = 0; count < 60; count += 1)
      await store({ kind: "users", type: "user.updated", userId: user.id });
    await ask({ ...eraseTask(user, "operator", [], "followed"), next: "records", erased: [user] });
    const times = [60_000, 60_000, 10_000];
    const invocation = { getRemainingTimeInMillis: () => times.shift() ?? 10_000 };
    await eraser(world.dependencies)(sqsEvent(await system.receive(world.queueUrl)), invocation);
    const left = (await world.table.items(`USER#${user.id}`)).length;
    expect(left).toBeGreaterThan(0);
    expect(await report()).toMatchObject({ step: "records", isDone: false, removed: { events: 61 - left } });
    await run();
    expect(await remains(user.id)).toEqual([]);
    expect(await report()).toMatchObject({ removed: { events: 60, states: 1 } });
  });

  test("a task that can't be read goes to the eraser's own dead letters, with the reason", async () => {
    await system.send(world.queueUrl, '{"schemaVersion":1,"cause":"whim"}');
    await deliver(system, world.queueUrl, eraser(world.dependencies));
    const [letter] = await system.drain(world.deadLetterQueueUrl);
    expect(letter?.MessageAttributes?.reason?.StringValue).toMatch(/^cause: expected one of operator/);
  });

  test("the log holds digests and times, and nobody's id", async () => {
    await storeAll();
    await erase(user);
    const keys = await world.log.keys();
    expect(keys.toSorted()).toEqual(
      (await Promise.all([user, account].map(world.digestOf))).map((digest) => `erased/${digest}`).toSorted(),
    );
    expect(JSON.parse((await world.log.bytes(keys[0] ?? "")).toString())).toEqual({
      schemaVersion: 1,
      erasedAt: erasedAt.toISOString(),
    });
  });
});
