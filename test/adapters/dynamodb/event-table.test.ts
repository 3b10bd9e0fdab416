import { randomUUID } from "node:crypto";
import { type AttributeValue, DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import type { Body } from "../../../domain/event/envelope.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import {
  describeOnEachTable,
  startTestSystem,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";

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

const body: Body = { as: "text", text: '{"first":true}' };

await describeOnEachTable("the event table", (tables) => {
  let system: TestSystem;
  let table: TestTable;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
  });
  afterAll(() => system.close());

  const recorder = (retentionInDays = 30) => eventTable(system.dynamodb, table.name, retentionInDays);
  const stored = (event: IncomeEvent) => table.item(`USER#${event.userId}`, `EVENT#${event.id}`);

  test("the first receipt inserts the event with its body, its weakness and its end", async () => {
    const event = eventOf();
    expect(await recorder()({ event, body })).toBe("first");
    expect(await stored(event)).toEqual({
      pk: `USER#${event.userId}`,
      sk: `EVENT#${event.id}`,
      event,
      body,
      weak: true,
      receipts: 1,
      schemaVersion: 1,
      expiresAt: Date.parse("2026-12-21T10:00:00.000Z") / 1000,
    });
  });

  // Each field below differs in the second receipt: without its if_not_exists it would be overwritten.
  test("the same event again only counts, and changes nothing that the first receipt said", async () => {
    const event = eventOf();
    await recorder()({ event, body });
    const first = await stored(event);
    const later: IncomeEvent = {
      ...event,
      type: "account.disconnected",
      connected: false,
      time: "2026-11-21T11:00:00.000Z",
      receivedAt: "2026-11-21T11:00:00.000Z",
    };
    const otherBody: Body = { as: "text", text: '{"second":true}' };
    expect(await recorder(60)({ event: later, body: otherBody })).toBe("again");
    expect(await stored(event)).toEqual({ ...first, receipts: 2 });
  });

  test("a release that comes later does not claim the version of an item that it did not write", async () => {
    const event = eventOf();
    await recorder()({ event, body });
    const key = { pk: { S: `USER#${event.userId}` }, sk: { S: `EVENT#${event.id}` } };
    await setVersion(system, table.name, key, "7");
    await recorder()({ event, body });
    expect(await stored(event)).toMatchObject({ schemaVersion: 7, receipts: 2 });
  });

  test("a hundred receipts at once are one item with a hundred receipts, and one of them is the first", async () => {
    const event = eventOf();
    const record = recorder();
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => record({ event, body })));
    expect(outcomes.filter((outcome) => outcome === "first")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "again")).toHaveLength(99);
    const items = await table.items(`USER#${event.userId}`);
    expect(items).toMatchObject([{ receipts: 100 }]);
  });

  test.each([
    ["the provider's id", { eventId: "e-1" }],
    ["a time", { time: receivedAt }],
  ])("an event with %s is not unordered", async (_, facts) => {
    const event = eventOf(facts);
    await recorder()({ event, body });
    expect(await stored(event)).toMatchObject({ weak: false });
  });

  describe("the item lies in the partition of", () => {
    const accountId = randomUUID();
    const companyAccountId = randomUUID();
    const withoutUser = { id: "e", kind: "accounts", receivedAt } as const;

    test("the account, where no user is named", async () => {
      await recorder()({ event: { ...withoutUser, type: "account.created", accountId }, body });
      expect(await table.item(`ACCOUNT#${accountId}`, "EVENT#e")).toMatchObject({ receipts: 1 });
    });

    test("the company account, where neither user nor account is named", async () => {
      await recorder()({
        event: { ...withoutUser, type: "company-account.created", companyAccountId },
        body,
      });
      expect(await table.item(`COMPANY#${companyAccountId}`, "EVENT#e")).toMatchObject({ receipts: 1 });
    });
  });

  test.each([
    ["plain letters", "a"],
    ["characters that a message escapes", '"'],
    ["characters of three bytes", "…"],
  ])("the largest body that travels inline fits an item: %s", async (_, character) => {
    const longest = "x".repeat(200);
    const facts = { eventId: longest, datasourceId: longest, endpoint: longest, dateStart: longest };
    const event = eventOf(facts);
    const text = character.repeat(
      Math.floor(380_000 / Buffer.byteLength(JSON.stringify(character).slice(1, -1))),
    );
    const record = recorder();
    expect(await record({ event, body: { as: "text", text } })).toBe("first");
    expect(await record({ event, body: { as: "text", text } })).toBe("again");
    expect(await stored(event)).toMatchObject({ receipts: 2, body: { text } });
  });

  test("a write that the table refuses is thrown, not taken for a receipt", async () => {
    const working = system.fail("dynamodb:UpdateItem");
    const event = eventOf();
    await expect(recorder()({ event, body })).rejects.toThrow("injected by the test");
    working();
    expect(await stored(event)).toBeUndefined();
  });

  /** Answers the first writes otherwise, at a moment of the call. @returns how many there were */
  const disturb = (at: "before" | "after", faults: readonly (Fault | "drop")[]) => {
    let calls = 0;
    const end = system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:UpdateItem" || phase !== at) return undefined;
      calls += 1;
      return faults[calls - 1];
    });
    onTestFinished(end);
    return () => calls;
  };

  test.each<[string, Fault | "drop"]>([
    ["throttling", { status: 400, errorType: "ThrottlingException", message: "injected" }],
    ["an error of AWS's own", { status: 503, errorType: "ServiceUnavailable", message: "injected" }],
    ["a connection that is cut", "drop"],
  ])("a write is tried again after %s", async (_, fault) => {
    const event = eventOf();
    const record = eventTable(new DynamoDBClient({ maxAttempts: 3 }), table.name, 30);
    const calls = disturb("before", [fault]);
    expect(await record({ event, body })).toBe("first");
    expect(calls()).toBe(2);
  });

  test("a write is given up after three attempts", async () => {
    const record = eventTable(new DynamoDBClient({ maxAttempts: 3 }), table.name, 30);
    const calls = disturb("before", ["drop", "drop", "drop"]);
    await expect(record({ event: eventOf(), body })).rejects.toThrow();
    expect(calls()).toBe(3);
  });

  test("a write whose answer is lost counts once more, and is still one event", async () => {
    disturb("after", ["drop"]);
    const event = eventOf();
    const record = eventTable(new DynamoDBClient({ maxAttempts: 3 }), table.name, 30);
    expect(await record({ event, body })).toBe("again");
    expect(await stored(event)).toMatchObject({ receipts: 2 });
  });
});

function setVersion(
  system: TestSystem,
  tableName: string,
  key: Record<string, AttributeValue>,
  version: string,
) {
  return system.dynamodb.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: key,
      UpdateExpression: "SET schemaVersion = :version",
      ExpressionAttributeValues: { ":version": { N: version } },
    }),
  );
}
