import { randomUUID } from "node:crypto";
import { failStatements } from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { expect, test } from "vitest";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import {
  identifyByEventId,
  identifyElement,
  readEnvelope,
  writeEnvelope,
} from "../../../domain/event/envelope.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { fixtureText } from "../../fixtures/field/fixture-text.ts";
import { describeOnTables } from "../../support/engines.ts";
import { accountEvent, consumerFixture, envelopeOf } from "../support/consumer-fixture.ts";

const lists: KindMapping = { ...defaultMapping.accounts, events: "@", ids: "any" };
const newName = { ...lists, types: { ...lists.types, account_linked: "account.connected" } };

await describeOnTables("a webhook with several events", (tables) => {
  const fixture = consumerFixture(tables);
  const { put, isEmpty, deadLetters } = fixture;
  const run = (mapping: KindMapping = lists) => fixture.run(mapping);
  const storedIds = async () => new Set((await fixture.table.all()).map(({ sk }) => sk));
  const idOf = (list: readonly object[], index: number, number = 1) =>
    identifyElement(envelopeOf(list).id, JSON.stringify(list[index]), number);

  test.each([
    ["list-of-one.json", 1],
    ["list-of-two.json", 2],
  ])("is stored element by element, each with only its own body: %s", async (name, count) => {
    const envelope = envelopeOf(fixtureText(name));
    await put(envelope);
    expect(await run()).toEqual([]);
    expect([await isEmpty(), await deadLetters()]).toEqual([true, []]);
    const elements: readonly object[] = JSON.parse(fixtureText(name));
    const items = await fixture.table.all();
    expect(items).toHaveLength(count);
    expect(new Map(items.map(({ sk, body }) => [sk, body]))).toEqual(
      new Map(
        elements.map((element) => {
          const text = JSON.stringify(element);
          return [`EVENT#${identifyElement(envelope.id, text, 1)}`, { type: "text", text }];
        }),
      ),
    );
    expect(fixture.entries).toMatchObject([
      { code: "EVENT_STORED", count, webhooks: Array.from({ length: count }, () => envelope.id) },
    ]);
  });

  test("is one event for each element, however often SQS delivers it and whatever else is in the batch", async () => {
    const list = [accountEvent(), accountEvent()];
    await put(envelopeOf([list[0], list[0], list[1]]), envelopeOf(list));
    await run();
    await put(envelopeOf(list));
    await run();
    const items = await fixture.table.all();
    expect(items.map(({ receipts }) => Object(receipts).count).toSorted()).toEqual([1, 1, 1, 2, 2]);
  });

  test("has a dead letter for each element that fails permanently, which a redrive stores with the same id", async () => {
    const list = [accountEvent(), accountEvent({ event: "account_linked" }), accountEvent()];
    await put(envelopeOf(list));
    expect(await run()).toEqual([]);
    expect(await storedIds()).toEqual(new Set([`EVENT#${idOf(list, 0)}`, `EVENT#${idOf(list, 2)}`]));
    const [letter, ...others] = await deadLetters();
    expect(others).toEqual([]);
    expect(letter?.reason).toBe('type: mapping.types translates no event name "account_linked"');
    expect(readEnvelope(letter?.body ?? "")).toEqual({
      ...envelopeOf(list),
      id: idOf(list, 1),
      isElement: true,
      body: { type: "text", text: JSON.stringify(list[1]) },
    });

    await fixture.system.send(fixture.queueUrl, letter?.body ?? "");
    expect(await run(newName)).toEqual([]);
    const all = [0, 1, 2].map((index) => `EVENT#${idOf(list, index)}`);
    expect(await storedIds()).toEqual(new Set(all));
    // The whole webhook by the new mapping, which finds a different list in it.
    await put(envelopeOf(list));
    await run({ ...newName, events: "reverse(@)" });
    expect(await storedIds()).toEqual(new Set(all));
  });

  test("has its dead letters returned as single dead letters while no mapping accepts them, never as a list", async () => {
    const list = [[accountEvent(), accountEvent()], accountEvent()];
    await put(envelopeOf(list));
    await run();
    const [letter] = await deadLetters();
    await fixture.system.send(fixture.queueUrl, letter?.body ?? "");
    await run();
    expect((await deadLetters()).map(({ body }) => body)).toEqual([letter?.body]);
    expect(await fixture.table.all()).toHaveLength(1);
  });

  test("is retried while one element can't be written, and has no dead letters until then", async () => {
    const list = [accountEvent(), accountEvent({ event: "unknown" }), accountEvent()];
    const envelope = envelopeOf(list);
    await put(envelope);
    const working = fixture.system.intercept(async ({ action, body }, phase) =>
      action === "dynamodb:BatchExecuteStatement" && phase === "before"
        ? failStatements(body, new Map([[1, { code: "AccessDenied", message: "injected" }]]))
        : undefined,
    );
    expect(await run()).toEqual([writeEnvelope(envelope)]);
    working();
    expect([(await storedIds()).size, await deadLetters()]).toEqual([1, []]);
    await put(envelope);
    expect(await run()).toEqual([]);
    expect([(await storedIds()).size, (await deadLetters()).length]).toEqual([2, 1]);
  });

  test("is retried while the dead letter of an element can't be sent", async () => {
    const envelope = envelopeOf([accountEvent({ event: "unknown" }), accountEvent()]);
    await put(envelope);
    const working = fixture.system.fail("sqs:SendMessageBatch");
    expect(await run()).toEqual([writeEnvelope(envelope)]);
    working();
    expect([(await storedIds()).size, await deadLetters()]).toEqual([1, []]);
  });

  test("ignores elements with an ignored name, and accepts an empty list", async () => {
    const wanted = accountEvent();
    await put(envelopeOf([{ event: "ping" }, wanted]), envelopeOf([]));
    expect(await run({ ...lists, types: { ...lists.types, ping: "ignore" } })).toEqual([]);
    expect(await storedIds()).toEqual(new Set([`EVENT#${idOf([{ event: "ping" }, wanted], 1)}`]));
    expect(await deadLetters()).toEqual([]);
    expect(fixture.entries.filter(({ code }) => code === "EVENT_IGNORED")).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ reason: "the list of events is empty" }),
        expect.objectContaining({ name: "ping", count: 1 }),
      ]),
    );
  });

  test("is stored with 1,000 events, even of one user", async () => {
    const user_id = randomUUID();
    await put(envelopeOf(Array.from({ length: 1_000 }, () => accountEvent({ user_id }))));
    expect(await run()).toEqual([]);
    expect(await storedIds()).toHaveLength(1_000);
  });

  test("stores an element that is too large for an item in the bucket, and its dead letter points there", async () => {
    const filler = "x".repeat(400_000);
    const list = [accountEvent({ filler }), accountEvent({ filler, event: "unknown" }), accountEvent()];
    const text = JSON.stringify(list);
    const whole = envelopeOf(text);
    const key = `bodies/accounts/${whole.id}`;
    await overflowBucket(fixture.bucket.name).put(key, text);
    await put({ ...whole, body: { type: "object", key, encoding: "text", bytes: text.length } });
    expect(await run()).toEqual([]);
    const pointerTo = (index: number) => ({ type: "object", key: `bodies/accounts/${idOf(list, index)}` });
    const items = await fixture.table.all();
    expect(items).toHaveLength(2);
    expect(items.find(({ sk }) => sk === `EVENT#${idOf(list, 0)}`)).toMatchObject({ body: pointerTo(0) });
    const [letter] = await deadLetters();
    expect(readEnvelope(letter?.body ?? "").body).toMatchObject(pointerTo(1));
    await fixture.system.send(fixture.queueUrl, letter?.body ?? "");
    await run({ ...lists, types: { ...lists.types, unknown: "account.updated" } });
    expect(await fixture.table.item(`USER#${list[1]?.user_id}`, `EVENT#${idOf(list, 1)}`)).toMatchObject({
      body: pointerTo(1),
    });
  });
});

await describeOnTables("an event whose identity is the provider's id of it", (tables) => {
  const fixture = consumerFixture(tables);
  const byId: KindMapping = {
    ...defaultMapping.accounts,
    ...{ ids: "any", identity: "eventId", eventId: "event_id", time: "occurred_at" },
  };

  test("is stored once, whatever else its retries contain, in one batch or later", async () => {
    const tries = ["retry-first-body.json", "retry-second-body.json", "retry-reserialized.json"];
    const [first, second, third] = tries.map((name) => envelopeOf(fixtureText(name)));
    if (first === undefined || second === undefined || third === undefined) throw new Error("no fixtures");
    const run = () => fixture.run(byId);
    await fixture.put(first, second);
    expect(await run()).toEqual([]);
    await fixture.put(third);
    expect(await run()).toEqual([]);
    const id = identifyByEventId("accounts", "evt-retry-1");
    expect(await fixture.table.all()).toMatchObject([
      { sk: `EVENT#${id}`, event: { id, eventId: "evt-retry-1" }, receipts: { count: 1 } },
    ]);
    expect(fixture.entries).toMatchObject([
      { code: "EVENT_DUPLICATE", correlationIds: [id], webhooks: [third.id] },
    ]);
  });
});
