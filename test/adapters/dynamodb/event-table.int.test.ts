import { randomUUID } from "node:crypto";
import { DeleteItemCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { eventTable, type Receipt } from "../../../adapters/dynamodb/event-table.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";
import { receiptOf } from "./receipt.ts";

const receivedAt = "2026-11-21T10:00:00.000Z";

function eventOf(facts: Partial<IncomeEvent> = {}): IncomeEvent {
  return {
    id: randomUUID(),
    kind: "accounts",
    type: "account.connected",
    accountId: randomUUID(),
    userId: randomUUID(),
    connected: true,
    receivedAt,
    ...facts,
  };
}

const body: Body = { type: "text", text: '{"first":true}' };

await describeOnEachTable("the event table", (tables) => {
  const made = systemWithTable(tables, { countsCapacity: true });

  const recorder = (retentionInDays = 30) =>
    eventTable(made.system.dynamodb, made.table.name, retentionInDays);
  const stored = (event: IncomeEvent) => made.table.item(`USER#${event.userId}`, `EVENT#${event.id}`);
  const sentAt = Date.parse(receivedAt);
  /** A receipt in a message that was sent this many milliseconds after the event. */
  const receipt = (event: IncomeEvent, id: string, later = 0): Receipt => {
    const { message, ...rest } = receiptOf(event, body, id);
    return { ...rest, message: { ...message, sentAt: sentAt + later } };
  };
  const callsOf = (name: string) => made.system.calls().get(`test dynamodb:${name}`) ?? 0;
  const units = () => made.system.capacity().get("test dynamodb:BatchExecuteStatement")?.writeUnits ?? 0;
  const own = { eventId: "e-1" };

  test("the first receipt inserts the event with its body, its message and its expiry", async () => {
    const event = eventOf();
    expect(await recorder()([receipt(event, "m1")])).toEqual(["first"]);
    expect(await stored(event)).toEqual({
      pk: `USER#${event.userId}`,
      sk: `EVENT#${event.id}`,
      event,
      body,
      receipts: { count: 1, first: "m1", last: "m1", firstAt: sentAt, since: sentAt },
      schemaVersion: 1,
      expiresAt: Date.parse("2026-12-21T10:00:00.000Z") / 1000,
    });
  });

  // Every field below differs in the second receipt, so any overwriting would show.
  test.each([
    ["its own id", own, {}],
    ["neither id nor time", {}, { count: 2, last: "m2", since: sentAt + 5 }],
  ])("a repeated event with %s changes nothing of the first receipt", async (_, facts, more) => {
    const event = eventOf(facts);
    await recorder()([receipt(event, "m1")]);
    const first = await stored(event);
    const later: IncomeEvent = {
      ...event,
      type: "account.disconnected",
      connected: false,
      receivedAt: "2026-11-21T11:00:00.000Z",
    };
    const again = { ...receipt(later, "m2", 5), body: { type: "text", text: '{"second":true}' } } as const;
    expect(await recorder(60)([again])).toEqual(["duplicate"]);
    const receipts = { count: 1, first: "m1", last: "m1", firstAt: sentAt, since: sentAt, ...more };
    expect(await stored(event)).toEqual({ ...first, receipts });
  });

  test.each([
    ["the process that stored its known events", true, { looks: 0, writes: 1, units: 4 }],
    ["another process", false, { looks: 1, writes: 2, units: 5 }],
  ])("a batch in %s costs few requests, and each event one write unit or two", async (_, isSame, costs) => {
    const record = recorder();
    const known = [eventOf(), eventOf(own)];
    await record(known.map((event) => receiptOf(event)));
    const counts = () => ({
      looks: callsOf("BatchGetItem"),
      writes: callsOf("BatchExecuteStatement"),
      units: units(),
    });
    const before = counts();
    const batch = [...known, eventOf(), eventOf(own)].map((event) => receiptOf(event));
    const outcomes = await (isSame ? record : recorder())(batch);
    expect(outcomes).toEqual(["duplicate", "duplicate", "first", "first"]);
    const after = counts();
    expect({
      looks: after.looks - before.looks,
      writes: after.writes - before.writes,
      units: after.units - before.units,
    }).toEqual(costs);
  });

  test("an event that a batch contains several times is one write, and one first receipt", async () => {
    const [event, strong] = [eventOf(), eventOf(own)];
    const batch = [
      receipt(event, "m3", 30),
      receipt(strong, "m4"),
      receipt(event, "m1", 10),
      receipt(strong, "m5", 1),
      receipt(event, "m2", 20),
    ];
    expect(await recorder()(batch)).toEqual(["duplicate", "first", "first", "duplicate", "duplicate"]);
    const known = { first: "m1", last: "m3", firstAt: sentAt + 10, since: sentAt + 30 };
    expect(await stored(event)).toMatchObject({ receipts: { ...known, count: 3 } });
    expect(await stored(strong)).toMatchObject({ receipts: { count: 1, first: "m4", last: "m4" } });
  });

  test("a message that SQS delivers again does not count, whether it is the first one or the last", async () => {
    const event = eventOf();
    const record = recorder();
    await record([receipt(event, "m1")]);
    await record([receipt(event, "m2")]);
    const before = callsOf("BatchExecuteStatement");
    for (const id of ["m1", "m2"]) expect(await record([receipt(event, id)])).toEqual(["duplicate"]);
    expect(await stored(event)).toMatchObject({ receipts: { count: 2 } });
    expect(callsOf("BatchExecuteStatement")).toBe(before);
  });

  test("a hundred receipts at once are one item with a hundred receipts, and one of them is the first", async () => {
    const event = eventOf();
    const outcomes: unknown[] = [];
    /** Redelivers failed messages, as SQS does. */
    const deliver = async (batch: readonly Receipt[]): Promise<void> => {
      const recorded = await recorder()(batch);
      outcomes.push(...recorded.filter((outcome) => typeof outcome === "string"));
      const failed = batch.filter((_, index) => typeof recorded[index] !== "string");
      if (failed.length > 0) await deliver(failed);
    };
    const batches = Array.from({ length: 10 }, (_, batch) =>
      Array.from({ length: 10 }, (__, index) => receipt(event, `${batch}.${index}`)),
    );
    await Promise.all(batches.map(deliver));
    expect(outcomes.toSorted()).toEqual([...Array(99).fill("duplicate"), "first"]);
    expect(await made.table.items(`USER#${event.userId}`)).toMatchObject([{ receipts: { count: 100 } }]);
  });

  /** Runs an action once a call of this name was answered, or before it is sent. */
  const meanwhile = (name: string, at: "before" | "after", happen: () => Promise<unknown>) => {
    let hasHappened = false;
    const end = made.system.intercept(async ({ action }, phase) => {
      if (hasHappened || action !== `dynamodb:${name}` || phase !== at) return undefined;
      hasHappened = true;
      await happen();
      return undefined;
    });
    onTestFinished(end);
  };

  test("receipts between the read and the count are counted if the last message is repeated", async () => {
    const event = eventOf();
    for (const id of ["m1", "m2"]) await recorder()([receipt(event, id)]);
    meanwhile("BatchGetItem", "after", async () => {
      for (const id of ["m3", "m2"]) await recorder()([receipt(event, id)]);
    });
    await recorder()([receipt(event, "m5")]);
    expect(await stored(event)).toMatchObject({ receipts: { count: 5, last: "m5" } });
  });

  const remove = (event: IncomeEvent) => {
    const Key = marshall({ pk: `USER#${event.userId}`, sk: `EVENT#${event.id}` });
    return made.system.dynamodb.send(new DeleteItemCommand({ TableName: made.table.name, Key }));
  };

  type Meanwhile = (event: IncomeEvent) => Promise<unknown>;
  const countElsewhere: Meanwhile = (event) => recorder()([receipt(event, "m2")]);
  const comeAnew: Meanwhile = async (event) => {
    await remove(event);
    await recorder()([receipt(event, "new")]);
  };

  // A process remembers what it wrote, which others may have changed or erased since.
  test.each<[string, string, Meanwhile, readonly ["first" | "duplicate", object?]]>([
    ["m3", "are counted elsewhere", countElsewhere, ["duplicate", { count: 3, first: "m1", last: "m3" }]],
    ["m2", "are counted elsewhere", countElsewhere, ["duplicate", { count: 2, first: "m1", last: "m2" }]],
    ["m2", "are erased", remove, ["first", { count: 1, first: "m2", last: "m2" }]],
    ["m2", "are erased and come anew", comeAnew, ["duplicate", { count: 2, first: "new", last: "m2" }]],
    // SQS's redelivery brings nothing back.
    ["m1", "are erased", remove, ["duplicate"]],
  ])("the message %s after receipts that a process remembers, but %s", async (id, _, happen, expected) => {
    const [outcome, receipts] = expected;
    const event = eventOf();
    const record = recorder();
    await record([receipt(event, "m1")]);
    await happen(event);
    expect(await record([receipt(event, id)])).toEqual([outcome]);
    const item = await stored(event);
    if (receipts === undefined) expect(item).toBeUndefined();
    else expect(item).toMatchObject({ receipts });
  });

  test.each([
    ["comes anew", true, { count: 2, first: "new", last: "m2" }],
    ["does not", false, { count: 1, first: "m2", last: "m2" }],
  ])(
    "an event that is erased after the read is not counted: the event %s",
    async (_, comesAnew, expected) => {
      const event = eventOf();
      await recorder()([receipt(event, "m1")]);
      meanwhile("BatchGetItem", "after", async () => {
        await remove(event);
        if (comesAnew) await recorder()([receipt(event, "new")]);
      });
      await recorder()([receipt(event, "m2")]);
      expect(await stored(event)).toMatchObject({ receipts: expected });
    },
  );

  test.each([
    ["plain letters", "a"],
    ["characters that a message escapes", '"'],
    ["characters of three bytes", "…"],
  ])("the largest inline body fits into an item: %s", async (_, character) => {
    const longest = "x".repeat(200);
    const facts = { datasourceId: longest, endpoint: longest, dateStart: longest };
    const event = eventOf(facts);
    const text = character.repeat(
      Math.floor(380_000 / Buffer.byteLength(JSON.stringify(character).slice(1, -1))),
    );
    const record = recorder();
    expect(await record([receiptOf(event, { type: "text", text })])).toEqual(["first"]);
    expect(await record([receiptOf(event, { type: "text", text })])).toEqual(["duplicate"]);
    expect(await stored(event)).toMatchObject({ receipts: { count: 2 }, body: { text } });
  });

  test("a failed read does not fail the events that need no read", async () => {
    const [known, unknown] = [eventOf(), eventOf()];
    await recorder()([receiptOf(known)]);
    onTestFinished(made.system.fail("dynamodb:BatchGetItem"));
    const batch = [known, unknown, eventOf(own)].map((event) => receiptOf(event));
    expect(await recorder()(batch)).toMatchObject([{ type: "retryable" }, "first", "first"]);
    expect(await stored(known)).toMatchObject({ receipts: { count: 1 } });
  });

  test("a write that the client retries after a lost response is one event and one receipt", async () => {
    let isFirst = true;
    const end = made.system.intercept(async ({ action }, phase) => {
      if (!isFirst || action !== "dynamodb:BatchExecuteStatement" || phase !== "after") return undefined;
      isFirst = false;
      return "drop";
    });
    onTestFinished(end);
    const event = eventOf();
    const record = eventTable(new DynamoDBClient({ maxAttempts: 3 }), made.table.name, 30);
    expect(await record([receiptOf(event)])).toEqual(["duplicate"]);
    expect(await stored(event)).toMatchObject({ receipts: { count: 1 } });
  });
});
