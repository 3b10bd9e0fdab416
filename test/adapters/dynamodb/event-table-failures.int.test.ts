import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Fault } from "@income-events/local-stack/gateway/types.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { eventOf as eventOfType } from "../../domain/samples.ts";
import {
  describeOnEachTable,
  startTestSystem,
  type TestSystem,
  type TestTable,
} from "../../support/engines.ts";
import { receiptOf } from "./receipt.ts";

const own = { eventId: "e-1" };
const eventOf = (facts: Partial<IncomeEvent> = {}) =>
  eventOfType("account.connected", { userId: randomUUID(), ...facts });

await describeOnEachTable("the event table, where something fails,", (tables) => {
  let system: TestSystem;
  let table: TestTable;

  beforeAll(async () => {
    system = await startTestSystem(tables);
    table = await system.createTable();
  });
  afterAll(() => system.close());

  const recorder = () => eventTable(system.dynamodb, table.name, 30);
  const stored = (event: IncomeEvent) => table.item(`USER#${event.userId}`, `EVENT#${event.id}`);
  const callsOf = (name: string) => system.calls().get(`test dynamodb:${name}`) ?? 0;

  test("a batch of the largest bodies is stored in one request", async () => {
    const text = "x".repeat(380_000);
    const events = Array.from({ length: 10 }, () => eventOf(own));
    const before = callsOf("BatchExecuteStatement");
    const outcomes = await recorder()(events.map((event) => receiptOf(event, { as: "text", text })));
    expect(new Set(outcomes)).toEqual(new Set(["first"]));
    expect(callsOf("BatchExecuteStatement") - before).toBe(1);
  });

  test("an item that is too large is its own message's failure, and the others are stored", async () => {
    const [large, small] = [eventOf(own), eventOf(own)];
    const tooLarge = receiptOf(large, { as: "text", text: "x".repeat(410_000) });
    expect(await recorder()([tooLarge, receiptOf(small)])).toMatchObject([{ kind: "permanent" }, "first"]);
    expect(await stored(large)).toBeUndefined();
    expect(await stored(small)).toBeDefined();
  });

  test.each(["BatchExecuteStatement", "BatchGetItem"])(
    "what %s refuses is a failure, not taken for a receipt",
    async (name) => {
      const working = system.fail(`dynamodb:${name}`);
      const event = eventOf();
      expect(await recorder()([receiptOf(event)])).toMatchObject([{ kind: "retryable" }]);
      working();
      expect(await stored(event)).toBeUndefined();
    },
  );

  test("a look that fails keeps none of those that need none from being stored", async () => {
    onTestFinished(system.fail("dynamodb:BatchGetItem"));
    const batch = [receiptOf(eventOf()), receiptOf(eventOf(own))];
    expect(await recorder()(batch)).toMatchObject([{ kind: "retryable" }, "first"]);
  });

  /** Answers the first writes otherwise, at a moment of the call. @returns how many there were */
  const disturb = (at: "before" | "after", faults: readonly (Fault | "drop")[]) => {
    let calls = 0;
    const end = system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:BatchExecuteStatement" || phase !== at) return undefined;
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
    expect(await record([receiptOf(event)])).toEqual(["first"]);
    expect(calls()).toBe(2);
  });

  test("a write is given up after three attempts", async () => {
    const record = eventTable(new DynamoDBClient({ maxAttempts: 3 }), table.name, 30);
    const calls = disturb("before", ["drop", "drop", "drop"]);
    expect(await record([receiptOf(eventOf())])).toMatchObject([{ kind: "retryable" }]);
    expect(calls()).toBe(3);
  });

  test("a write whose answer is lost is still one event, and one receipt", async () => {
    disturb("after", ["drop"]);
    const event = eventOf();
    const record = eventTable(new DynamoDBClient({ maxAttempts: 3 }), table.name, 30);
    expect(await record([receiptOf(event)])).toEqual(["again"]);
    expect(await stored(event)).toMatchObject({ receipts: { count: 1 } });
  });
});
