import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { queueLetters } from "../../../adapters/sqs/queue-dead-letters.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { redrive } from "../../../cli/dead-letters/redrive.ts";
import { type Body, bodyOf, type Envelope, writeEnvelope } from "../../../domain/event/envelope.ts";
import type { Kind } from "../../../domain/event/events.ts";
import { identify } from "../../../domain/event/identify.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { receiver } from "../../../functions/receive/receiver.ts";
import { consumer } from "../../../functions/store/consumer.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import {
  describeOnTables,
  startTestSystem,
  type TestBucket,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";
import { badInputs } from "../support/bad-input.ts";
import {
  context,
  deliver,
  httpEvent,
  keptLog,
  type LogEntry,
  type SqsHandler,
  sqsEvent,
} from "../support/lambda.ts";

const receivedAt = "2026-11-21T12:00:00.000Z";

function accountEvent(facts: Record<string, unknown> = {}) {
  return {
    event: "connect_account",
    account_id: randomUUID(),
    user_id: randomUUID(),
    connected: true,
    ...facts,
  };
}

function envelopeOf(payload: unknown, body?: Body): Envelope {
  const raw = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const id = identify("accounts", raw);
  return { schemaVersion: 1, kind: "accounts", id, receivedAt, body: body ?? bodyOf(raw) };
}

await describeOnTables("the consumer", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let bucket: TestBucket;
  let queueUrl: string;
  let deadLetterQueueUrl: string;
  let entries: LogEntry[];

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());

  beforeEach(async () => {
    [table, bucket, queueUrl, deadLetterQueueUrl] = await Promise.all([
      system.createTable(),
      system.createBucket(),
      system.createQueue(),
      system.createQueue(),
    ]);
  });

  function consumerOf(mapping: KindMapping = defaultMapping.accounts): SqsHandler {
    const kept = keptLog();
    entries = kept.entries;
    return consumer({
      record: eventTable(system.dynamodb, table.name, 30),
      overflow: overflowBucket(bucket.name),
      send: sqsSender(system.sqs),
      deadLetterQueueUrl,
      mapping,
      search: jmespathSearch,
      log: kept.log,
    });
  }

  const put = (...envelopes: readonly Envelope[]) =>
    Promise.all(envelopes.map((envelope) => system.send(queueUrl, writeEnvelope(envelope))));
  const isEmpty = async () => (await system.drain(queueUrl)).length === 0;
  const deadLetters = async () =>
    (await system.drain(deadLetterQueueUrl)).map(({ Body, MessageAttributes }) => ({
      body: Body,
      reason: MessageAttributes?.reason?.StringValue,
    }));

  test("stores an event with its facts, its body and its identity", async () => {
    const payload = accountEvent({ datasource_id: "uber", created_at: "2026-11-21 10:00:00 UTC" });
    const envelope = envelopeOf(payload);
    await put(envelope);
    expect(await deliver(system, queueUrl, consumerOf())).toEqual([]);
    expect(await table.item(`USER#${payload.user_id}`, `EVENT#${envelope.id}`)).toMatchObject({
      event: {
        id: envelope.id,
        kind: "accounts",
        type: "account.connected",
        accountId: payload.account_id,
        userId: payload.user_id,
        datasourceId: "uber",
        connected: true,
        receivedAt,
      },
      body: { as: "text", text: JSON.stringify(payload) },
      weak: true,
      receipts: 1,
    });
    expect(await isEmpty()).toBe(true);
    expect(entries).toEqual([{ code: "EVENT_STORED", kind: "accounts", correlationId: envelope.id }]);
  });

  test("stores facts that reconciliation found as an event marked so, whatever the mapping is", async () => {
    const facts = { type: "account.created", accountId: randomUUID(), userId: randomUUID() } as const;
    const envelope = envelopeOf("", { as: "facts", facts: { ...facts, connected: true } });
    await put(envelope);
    expect(
      await deliver(system, queueUrl, consumerOf({ ...defaultMapping.accounts, type: "nothing" })),
    ).toEqual([]);
    expect(await table.item(`USER#${facts.userId}`, `EVENT#${envelope.id}`)).toMatchObject({
      event: { ...facts, connected: true, id: envelope.id, kind: "accounts", receivedAt, reconciled: true },
      body: envelope.body,
      weak: true,
      receipts: 1,
    });
  });

  test("stores what the next release wrote, and leaves what a later one wrote in the queue as it is", async () => {
    const envelope = envelopeOf(accountEvent());
    const of = (schemaVersion: number) => JSON.stringify({ ...envelope, schemaVersion, added: "x" });
    await system.send(queueUrl, of(2));
    await system.send(queueUrl, of(3));
    expect(await deliver(system, queueUrl, consumerOf())).toEqual([of(3)]);
    expect(await table.all()).toMatchObject([{ sk: `EVENT#${envelope.id}`, receipts: 1 }]);
    expect(await deadLetters()).toEqual([]);
    expect(entries).toMatchObject([
      { code: "EVENT_STORED" },
      { code: "MESSAGE_FAILED", reason: "schemaVersion: 3 is of a later release, this one reads 1 to 2" },
    ]);
  });

  test("counts three receipts of the same body as three receipts of one event", async () => {
    const payload = accountEvent();
    const envelope = envelopeOf(payload);
    const handler = consumerOf();
    await put(envelope, { ...envelope, receivedAt: "2026-11-21T13:00:00.000Z" });
    await deliver(system, queueUrl, handler);
    await put(envelope);
    await deliver(system, queueUrl, handler);
    expect(await table.all()).toMatchObject([{ sk: `EVENT#${envelope.id}`, receipts: 3 }]);
    expect(entries.map(({ code }) => code)).toEqual(["EVENT_STORED", "EVENT_AGAIN", "EVENT_AGAIN"]);
  });

  test("removes one poison of ten into the dead-letter queue with its reason, and stores the nine", async () => {
    const good = Array.from({ length: 9 }, () => envelopeOf(accountEvent()));
    const poison = envelopeOf({ event: "no_such_event", account_id: randomUUID() });
    await put(...good.slice(0, 4), poison, ...good.slice(4));
    expect(await deliver(system, queueUrl, consumerOf())).toEqual([]);
    expect(await table.all()).toHaveLength(9);
    expect(await isEmpty()).toBe(true);
    expect(await deadLetters()).toEqual([
      { body: writeEnvelope(poison), reason: "type: mapping.types translates no such event name" },
    ]);
    expect(entries.filter(({ code }) => code === "MESSAGE_REJECTED")).toHaveLength(1);
  });

  test.each([
    ["no JSON", "hello", "the envelope is not JSON"],
    ["no envelope", "{}", "schemaVersion: expected a whole number from 1 on"],
    [
      "an envelope of no kind",
      JSON.stringify({ ...envelopeOf({}), kind: "x" }),
      "kind: expected one of the webhook kinds",
    ],
    [
      "a body that was withheld",
      writeEnvelope(envelopeOf({}, { as: "withheld", bytes: 7, error: "not JSON" })),
      "the body was not kept: not JSON",
    ],
  ])("sends to the dead-letter queue a message that is %s", async (_, message, reason) => {
    await system.send(queueUrl, message);
    expect(await deliver(system, queueUrl, consumerOf())).toEqual([]);
    expect(await deadLetters()).toEqual([{ body: message, reason }]);
    expect(await table.all()).toEqual([]);
  });

  test("reports a write that fails alone, and has the nine others removed", async () => {
    const envelopes = Array.from({ length: 10 }, () => envelopeOf(accountEvent()));
    await put(...envelopes);
    let writes = 0;
    const working = system.intercept(async ({ action }, moment) => {
      if (action !== "dynamodb:UpdateItem" || moment !== "before") return undefined;
      writes += 1;
      return writes === 3
        ? { status: 500, errorType: "InternalServerError", message: "injected by the test" }
        : undefined;
    });
    const kept = await deliver(system, queueUrl, consumerOf());
    working();
    expect(kept).toHaveLength(1);
    expect(await table.all()).toHaveLength(9);
    expect(await deadLetters()).toEqual([]);
    const failed = envelopes.find((envelope) => writeEnvelope(envelope) === kept[0]);
    expect((await table.all()).map(({ sk }) => sk)).not.toContain(`EVENT#${failed?.id}`);
    expect(entries.filter(({ code }) => code === "MESSAGE_FAILED")).toMatchObject([
      { reason: "InternalServerError" },
    ]);
  });

  test("reports all ten where every write fails, and stores all of them when they come again", async () => {
    const envelopes = Array.from({ length: 10 }, () => envelopeOf(accountEvent()));
    await put(...envelopes);
    const working = system.fail("dynamodb:UpdateItem");
    const handler = consumerOf();
    expect(await deliver(system, queueUrl, handler)).toHaveLength(10);
    working();
    expect(await table.all()).toEqual([]);
    await put(...envelopes);
    expect(await deliver(system, queueUrl, handler)).toEqual([]);
    expect(await table.all()).toHaveLength(10);
    expect(await deadLetters()).toEqual([]);
  });

  test("a message as large as SQS takes, which no item can hold, is a dead letter, also without room for its reason", async () => {
    const mostBytes = 1_048_576;
    const sizeOf = (padding: string) =>
      writeEnvelope(
        envelopeOf(JSON.stringify({ ...accountEvent({ account_id: "a", user_id: "u" }), padding })),
      );
    const message = sizeOf("x".repeat(mostBytes - Buffer.byteLength(sizeOf(""))));
    expect(Buffer.byteLength(message)).toBe(mostBytes);
    await system.send(queueUrl, message);
    expect(await deliver(system, queueUrl, consumerOf())).toEqual([]);
    expect(await deadLetters()).toEqual([{ body: message, reason: undefined }]);
    expect(await table.all()).toEqual([]);
  });

  test("a write that was made though its answer was lost is counted again, and is still one event", async () => {
    const envelope = envelopeOf(accountEvent());
    await put(envelope);
    const working = system.intercept(async ({ action }, moment) =>
      action === "dynamodb:UpdateItem" && moment === "after" ? "drop" : undefined,
    );
    const handler = consumerOf();
    expect(await deliver(system, queueUrl, handler)).toHaveLength(1);
    working();
    await put(envelope);
    await deliver(system, queueUrl, handler);
    expect(await table.all()).toMatchObject([{ receipts: 2 }]);
  });

  test("keeps a poison message in its queue while the dead-letter queue can't be written to", async () => {
    const poison = envelopeOf("[]");
    const good = envelopeOf(accountEvent());
    await put(poison, good);
    const working = system.fail("sqs:SendMessageBatch");
    expect(await deliver(system, queueUrl, consumerOf())).toEqual([writeEnvelope(poison)]);
    working();
    expect(await table.all()).toMatchObject([{ sk: `EVENT#${good.id}` }]);
    expect(await deadLetters()).toEqual([]);
    expect(entries.map(({ code }) => code)).not.toContain("MESSAGE_REJECTED");
  });

  describe("reads a body", () => {
    const payload = accountEvent({ note: "grüße \uFFFE" });
    const text = JSON.stringify(payload);
    const base64 = Buffer.from(text).toString("base64");
    const key = "bodies/accounts/some";
    const bytes = Buffer.byteLength(text);

    test.each<[string, Body, string | undefined]>([
      ["of base64", { as: "base64", base64 }, undefined],
      ["that lies in the bucket as text", { as: "object", key, of: "text", bytes }, text],
      [
        "that lies in the bucket as base64",
        { as: "object", key, of: "base64", bytes: base64.length },
        base64,
      ],
    ])("%s, and stores it as it travelled", async (_, body, object) => {
      if (object !== undefined) await overflowBucket(bucket.name).put(key, object);
      const envelope = envelopeOf(payload, body);
      await put(envelope);
      expect(await deliver(system, queueUrl, consumerOf())).toEqual([]);
      expect(await table.item(`USER#${payload.user_id}`, `EVENT#${envelope.id}`)).toMatchObject({
        event: { accountId: payload.account_id },
        body,
      });
    });

    test("that is missing in the bucket: the message is kept, for SQS to deliver again", async () => {
      const envelope = envelopeOf(payload, { as: "object", key: "bodies/accounts/none", of: "text", bytes });
      await put(envelope);
      expect(await deliver(system, queueUrl, consumerOf())).toEqual([writeEnvelope(envelope)]);
      expect(await deadLetters()).toEqual([]);
    });
  });

  test("maps a redriven message anew after a change of the mapping, under the same identity", async () => {
    const payload = { name: "verbunden", account_id: randomUUID(), time: "2026-11-21 10:00:00 UTC" };
    const envelope = envelopeOf(payload);
    await put(envelope);
    await deliver(system, queueUrl, consumerOf());
    const redriveAll = (run: string) =>
      redrive({
        place: queueLetters(system.sqs, deadLetterQueueUrl, () => 60),
        isWanted: ({ reason }) => reason === "type: the payload names no event; see mapping.type",
        send: sqsSender(system.sqs),
        queueUrl,
        prepare: (body) => body,
        run,
        limit: 10,
        onProgress: () => undefined,
      });
    expect(await redriveAll("run-1")).toMatchObject({ redriven: 1 });
    // Too early: it comes back, and is counted.
    await deliver(system, queueUrl, consumerOf());
    expect(await redriveAll("run-1")).toMatchObject({ redriven: 0, again: 1 });
    expect(await redriveAll("run-2")).toMatchObject({ redriven: 1 });
    const mapping: KindMapping = {
      ...defaultMapping.accounts,
      type: "name",
      types: { verbunden: "account.connected" },
      time: "time",
    };
    expect(await deliver(system, queueUrl, consumerOf(mapping))).toEqual([]);
    expect(await table.all()).toMatchObject([
      {
        pk: `ACCOUNT#${payload.account_id}`,
        sk: `EVENT#${envelope.id}`,
        event: { id: envelope.id, type: "account.connected", time: "2026-11-21T10:00:00.000Z", receivedAt },
        weak: false,
      },
    ]);
    expect(await deadLetters()).toEqual([]);
  });

  test.each([
    "2026-11-21 10:00:00 UTC",
    "2026-11-21 10:00:00.000 UTC",
    "2026-11-21T10:00:00Z",
    "2026-11-21T11:00:00+01:00",
  ])("reads the time %s as the same moment", async (time) => {
    const payload = accountEvent({ time });
    await put(envelopeOf(payload));
    await deliver(system, queueUrl, consumerOf({ ...defaultMapping.accounts, time: "time" }));
    expect(await table.all()).toMatchObject([{ event: { time: "2026-11-21T10:00:00.000Z" }, weak: false }]);
  });

  test("reads headers that the envelope carries; of one that was written without, their fields are missing", async () => {
    const mapping = { ...defaultMapping.accounts, accountId: { header: "ce-subject" } };
    const accountId = randomUUID();
    const envelope = envelopeOf({ event: "connect_account" });
    await put({ ...envelope, headers: { "ce-subject": accountId } });
    await deliver(system, queueUrl, consumerOf(mapping));
    expect(await table.all()).toMatchObject([{ event: { type: "account.connected", accountId } }]);
    await put(envelope);
    await deliver(system, queueUrl, consumerOf(mapping));
    expect(await deadLetters()).toMatchObject([{ reason: expect.stringMatching(/^accountId: missing/) }]);
  });

  test("an expression that fails sends the message to the dead-letter queue, and quotes nothing of it", async () => {
    await put(envelopeOf(accountEvent({ user_id: "personal" })));
    await deliver(system, queueUrl, consumerOf({ ...defaultMapping.accounts, userId: "abs(user_id)" }));
    const [letter] = await deadLetters();
    expect(letter?.reason).toMatch(/^mapping: /);
    expect(letter?.reason).not.toContain("personal");
  });

  test("an empty batch is no failure", async () => {
    expect(await consumerOf()(sqsEvent([]), context)).toEqual({ batchItemFailures: [] });
  });

  describe("bad input ends where it belongs, through receiver, queue and consumer:", () => {
    const receiverFor = (kind: Kind) =>
      receiver(kind, {
        send: sqsSender(system.sqs),
        overflow: overflowBucket(bucket.name),
        queueUrl,
        deadLetterQueueUrl,
        secretHeader: "x-webhook-secret",
        isAllowedSource: () => true,
        maxBodyBytes: 6_000_000,
        mappedHeaders: [],
        readSecret: async () => ({ current: "secret" }),
        now: () => new Date(receivedAt),
        log: keptLog().log,
      });

    test.each(badInputs)("$name", async ({ kind, body, unreadable, unmappable }) => {
      const headers = { "x-webhook-secret": "secret" };
      await receiverFor(kind)(httpEvent({ headers, body }), context);
      expect(await deliver(system, queueUrl, consumerOf(defaultMapping[kind]))).toEqual([]);
      const reason = unreadable ?? unmappable;
      if (reason === undefined) {
        expect(await table.all()).toMatchObject([{ receipts: 1 }]);
        expect(await deadLetters()).toEqual([]);
      } else {
        expect(await table.all()).toEqual([]);
        expect(await deadLetters()).toMatchObject([{ reason: expect.stringMatching(reason) }]);
      }
      expect(await isEmpty()).toBe(true);
    });

    test("one warm consumer takes all of them in a row, and still works", async () => {
      const handler = consumerOf();
      for (const { body } of badInputs.filter(({ kind }) => kind === "accounts")) {
        await receiverFor("accounts")(
          httpEvent({ headers: { "x-webhook-secret": "secret" }, body }),
          context,
        );
        expect(await deliver(system, queueUrl, handler)).toEqual([]);
      }
      const last = envelopeOf(accountEvent());
      await put(last);
      expect(await deliver(system, queueUrl, handler)).toEqual([]);
      expect((await table.all()).map(({ sk }) => sk)).toContain(`EVENT#${last.id}`);
    });
  });
});
