import { randomUUID } from "node:crypto";
import { failStatements } from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { expect, test } from "vitest";
import { writeEnvelope } from "../../../domain/event/envelope.ts";
import { canaryBody } from "../../../domain/event/events.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { fixtureText } from "../../fixtures/field/fixture-text.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, consumerFixture, envelopeOf, receivedAt } from "../support/consumer-fixture.ts";
import { context, sqsEvent } from "../support/lambda.ts";

await describeOnTables("the consumer", (tables) => {
  const fixture = consumerFixture(tables);
  const { consumerOf, run, put, isEmpty, deadLetters } = fixture;

  test("stores an event with its facts, its body and its identity", async () => {
    const payload = accountEvent({ datasource_id: "uber", created_at: "2026-11-21 10:00:00 UTC" });
    const envelope = envelopeOf(payload);
    await put(envelope);
    expect(await run()).toEqual([]);
    expect(await fixture.table.item(`USER#${payload.user_id}`, `EVENT#${envelope.id}`)).toMatchObject({
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
      body: { type: "text", text: JSON.stringify(payload) },
      receipts: { count: 1 },
    });
    expect(await isEmpty()).toBe(true);
    expect(fixture.entries).toEqual([
      {
        ...{ code: "EVENT_STORED", kind: "accounts", count: 1, correlationIds: [envelope.id] },
        ...{
          types: ["account.connected"],
          subjects: [{ subject: { kind: "account", id: payload.account_id } }],
        },
      },
    ]);
  });

  test("stores a canary, whatever the mapping is, until it expires", async () => {
    const id = randomUUID();
    await put(envelopeOf(JSON.parse(canaryBody(id))));
    expect(await run()).toEqual([]);
    const [item, ...others] = await fixture.table.all();
    expect(others).toEqual([]);
    expect(item).toMatchObject({ pk: "CANARY", sk: `CANARY#${id}` });
    const hoursLeft = (Number(item?.expiresAt) - Date.now() / 1_000) / 3_600;
    expect(Math.round(hoursLeft)).toBe(24);
    expect([await isEmpty(), await deadLetters(), fixture.entries]).toEqual([true, [], []]);
  });

  test("stores facts that reconciliation found as an event marked so, whatever the mapping is", async () => {
    const facts = { type: "account.created", accountId: randomUUID(), userId: randomUUID() } as const;
    const envelope = envelopeOf("", { type: "facts", facts: { ...facts, connected: true } });
    await put(envelope);
    expect(await run({ ...defaultMapping.accounts, type: "nothing" })).toEqual([]);
    expect(await fixture.table.item(`USER#${facts.userId}`, `EVENT#${envelope.id}`)).toMatchObject({
      event: { ...facts, connected: true, id: envelope.id, kind: "accounts", receivedAt, reconciled: true },
      body: envelope.body,
      receipts: { count: 1 },
    });
  });

  test("stores messages of the next release, and leaves those of later ones in the queue", async () => {
    const envelope = envelopeOf(accountEvent());
    const of = (schemaVersion: number) => JSON.stringify({ ...envelope, schemaVersion, added: "x" });
    await fixture.system.send(fixture.queueUrl, of(2));
    await fixture.system.send(fixture.queueUrl, of(3));
    expect(await run()).toEqual([of(3)]);
    expect(await fixture.table.all()).toMatchObject([{ sk: `EVENT#${envelope.id}`, receipts: { count: 1 } }]);
    expect(await deadLetters()).toEqual([]);
    expect(fixture.entries).toMatchObject([
      { code: "EVENT_STORED" },
      { code: "MESSAGE_FAILED", reason: "schemaVersion: 3 is of a later release, this one reads 1 to 2" },
    ]);
  });

  test("stores nothing of events that the settings ignore, and counts them by name", async () => {
    const [ping, status] = [fixtureText("ping.json"), fixtureText("name-with-slash.json")];
    const types = { ...defaultMapping.accounts.types, ping: "ignore", "connector/status_updated": "ignore" };
    const stored = envelopeOf(accountEvent());
    await put(envelopeOf(ping), envelopeOf(`${ping} `), envelopeOf(status), stored);
    const handler = consumerOf({ ...defaultMapping.accounts, types });
    expect(await run(undefined, handler)).toEqual([]);
    expect(await isEmpty()).toBe(true);
    expect(await deadLetters()).toEqual([]);
    expect(await fixture.table.all()).toMatchObject([{ sk: `EVENT#${stored.id}` }]);
    const lines = fixture.entries.filter(({ code }) => code === "EVENT_IGNORED");
    expect(new Map(lines.map(({ name, count }) => [name, count]))).toEqual(
      new Map([
        ["ping", 2],
        ["connector/status_updated", 1],
      ]),
    );
  });

  test("counts attributes that it leaves out by name, once for each event, and logs none of their values", async () => {
    const attributes = { loanId: "metadata.loan_id", agent: "metadata.agent" };
    const user = (metadata: object) => ({ event: "update_user", user_id: randomUUID(), metadata });
    const envelopes = [
      user({ loan_id: "L-1", agent: { name: "Ada" } }),
      user({ loan_id: "secret".repeat(50), agent: "A" }),
      user({ loan_id: "secret".repeat(50), agent: ["A"] }),
    ].map((payload) => ({ ...envelopeOf(payload), kind: "users" as const }));
    await put(...envelopes, ...envelopes);
    const handler = consumerOf({ ...defaultMapping.users, attributes });
    expect(await run(undefined, handler)).toEqual([]);
    const lines = fixture.entries.filter(({ code }) => code === "ATTRIBUTE_LEFT_OUT");
    expect(lines.map(({ name, count }) => [name, count]).toSorted()).toEqual([
      ["agent", 2],
      ["loanId", 2],
    ]);
    expect(JSON.stringify(fixture.entries)).not.toContain("secret");
    const stored = (await fixture.table.all()).map(({ event }) => event);
    expect(stored).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ attributes: { loanId: "L-1" } }),
        expect.objectContaining({ attributes: { agent: "A" } }),
        expect.objectContaining({ attributes: {} }),
      ]),
    );
  });

  test("removes one poison of ten into the dead-letter queue with its reason, and stores the nine", async () => {
    const good = Array.from({ length: 9 }, () => envelopeOf(accountEvent()));
    const poison = envelopeOf({ event: "no_such_event", account_id: randomUUID() });
    await put(...good.slice(0, 4), poison, ...good.slice(4));
    expect(await run()).toEqual([]);
    expect(await fixture.table.all()).toHaveLength(9);
    expect(await isEmpty()).toBe(true);
    expect(await deadLetters()).toEqual([
      { body: writeEnvelope(poison), reason: 'type: mapping.types translates no event name "no_such_event"' },
    ]);
    expect(fixture.entries.filter(({ code }) => code === "MESSAGE_REJECTED")).toHaveLength(1);
  });

  test("reports a write that fails alone, and has the nine others removed", async () => {
    const envelopes = Array.from({ length: 10 }, () => envelopeOf(accountEvent()));
    await put(...envelopes);
    const working = fixture.system.intercept(async ({ action, body }, phase) =>
      action === "dynamodb:BatchExecuteStatement" && phase === "before"
        ? failStatements(body, new Map([[2, { code: "AccessDenied", message: "injected" }]]))
        : undefined,
    );
    const kept = await run();
    working();
    expect(kept).toHaveLength(1);
    expect(await fixture.table.all()).toHaveLength(9);
    expect(await deadLetters()).toEqual([]);
    const failed = envelopes.find((envelope) => writeEnvelope(envelope) === kept[0]);
    expect((await fixture.table.all()).map(({ sk }) => sk)).not.toContain(`EVENT#${failed?.id}`);
    expect(fixture.entries.filter(({ code }) => code === "MESSAGE_FAILED")).toMatchObject([
      { reason: "DynamoDB: AccessDenied" },
    ]);
  });

  test("reports all ten if every write fails, and stores them when they are redelivered", async () => {
    const envelopes = Array.from({ length: 10 }, () => envelopeOf(accountEvent()));
    await put(...envelopes);
    const working = fixture.system.fail("dynamodb:BatchExecuteStatement");
    const handler = consumerOf();
    expect(await run(undefined, handler)).toHaveLength(10);
    working();
    expect(await fixture.table.all()).toEqual([]);
    await put(...envelopes);
    expect(await run(undefined, handler)).toEqual([]);
    expect(await fixture.table.all()).toHaveLength(10);
    expect(await deadLetters()).toEqual([]);
  });

  test("a message of SQS's maximum size, which exceeds an item, is a dead letter, even without a reason", async () => {
    const maxBytes = 1_048_576;
    const sizeOf = (padding: string) =>
      writeEnvelope(
        envelopeOf(JSON.stringify({ ...accountEvent({ account_id: "a", user_id: "u" }), padding })),
      );
    const message = sizeOf("x".repeat(maxBytes - Buffer.byteLength(sizeOf(""))));
    expect(Buffer.byteLength(message)).toBe(maxBytes);
    await fixture.system.send(fixture.queueUrl, message);
    expect(await run()).toEqual([]);
    expect(await deadLetters()).toEqual([{ body: message, reason: undefined }]);
    expect(await fixture.table.all()).toEqual([]);
  });

  test("a write that was made though its answer was lost is still one event, and one receipt", async () => {
    const envelope = envelopeOf(accountEvent());
    await put(envelope);
    const working = fixture.system.intercept(async ({ action }, phase) =>
      action === "dynamodb:BatchExecuteStatement" && phase === "after" ? "drop" : undefined,
    );
    const handler = consumerOf();
    const batch = sqsEvent(await fixture.system.receive(fixture.queueUrl));
    expect((await handler(batch, context)).batchItemFailures).toHaveLength(1);
    working();
    expect(await handler(batch, context)).toEqual({ batchItemFailures: [] });
    expect(await fixture.table.all()).toMatchObject([{ receipts: { count: 1 } }]);
  });

  test("keeps a poison message in its queue while the dead-letter queue can't be written to", async () => {
    const poison = envelopeOf("[]");
    const good = envelopeOf(accountEvent());
    await put(poison, good);
    const working = fixture.system.fail("sqs:SendMessageBatch");
    expect(await run()).toEqual([writeEnvelope(poison)]);
    working();
    expect(await fixture.table.all()).toMatchObject([{ sk: `EVENT#${good.id}` }]);
    expect(await deadLetters()).toEqual([]);
    expect(fixture.entries.map(({ code }) => code)).not.toContain("MESSAGE_REJECTED");
  });
});
