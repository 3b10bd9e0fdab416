import { randomUUID } from "node:crypto";
import { CreateTableCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { tombstoneDays } from "../../../lib/erasure/eraser.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { longestInQueuesInDays } from "../../../lib/storage/overflow-storage.ts";
import { dynamoDbMemory } from "../../../packages/subscriber/examples/dynamodb-memory.ts";
import { inMemory, keptDays, type Memory } from "../../../packages/subscriber/memory.ts";
import { productionSettings } from "../../lib/synthesized.ts";
import { describeOnTables, startTestSystem, type TestSystem } from "../../support/engines.ts";

const sequence = (version: number) => String(version).padStart(20, "0");

const day = 86_400_000;

function behaves(create: (now?: () => number) => Promise<Memory>): void {
  it("knows nothing at first, then what was handled", async () => {
    const memory = await create();
    expect(await memory.recall("a", "s")).toMatchObject({ isHandled: false });
    expect((await memory.recall("a", "s")).newest).toBeUndefined();
    await memory.remember({ id: "a", place: { series: "s", sequence: sequence(2) } });
    expect(await memory.recall("a", "s")).toEqual({ isHandled: true, newest: sequence(2) });
    expect(await memory.recall("b", "s")).toEqual({ isHandled: false, newest: sequence(2) });
    expect(await memory.recall("a")).toMatchObject({ isHandled: true });
  });

  it("keeps the higher sequence, and the id, if another process was faster", async () => {
    const memory = await create();
    await memory.remember({ id: "new", place: { series: "s", sequence: sequence(10) } });
    await memory.remember({ id: "old", place: { series: "s", sequence: sequence(9) } });
    expect(await memory.recall("old", "s")).toEqual({ isHandled: true, newest: sequence(10) });
  });

  it("forgets once a message cannot be redelivered: erased people may then be announced again", async () => {
    let now = Date.now();
    const memory = await create(() => now);
    await memory.remember({ id: "a", place: { series: "s", sequence: "9".repeat(20) } });
    now += (keptDays - 1) * day;
    expect(await memory.recall("a", "s")).toEqual({ isHandled: true, newest: "9".repeat(20) });
    now += 2 * day;
    expect(await memory.recall("a", "s")).toEqual({ isHandled: false, newest: undefined });
    await memory.remember({ id: "b", place: { series: "s", sequence: sequence(1) } });
    expect(await memory.recall("b", "s")).toEqual({ isHandled: true, newest: sequence(1) });
  });

  it("remembers an id without a place", async () => {
    const memory = await create();
    await memory.remember({ id: "a" });
    expect(await memory.recall("a")).toMatchObject({ isHandled: true });
  });
}

test("memory outlasts every message, and ends before erased people can be announced again", () => {
  const settings = parseSettings(productionSettings, "production");
  const inQueues = 2 * longestInQueuesInDays;
  expect(keptDays).toBeGreaterThan(settings.retention.archiveDays + inQueues);
  expect(keptDays).toBeLessThan(tombstoneDays(settings));
  expect(keptDays - settings.retention.archiveDays).toBe(57);
});

describe("a memory in the process", () => {
  behaves(async (now = Date.now) => inMemory({ now }));

  it("forgets the oldest beyond its bound, and no series that was used since", async () => {
    const memory = inMemory({ most: 2 });
    for (const id of ["a", "b", "c"]) {
      await memory.remember({ id, place: { series: id, sequence: sequence(1) } });
      if (id === "b") await memory.remember({ id: "a", place: { series: "a", sequence: sequence(2) } });
    }
    expect(await memory.recall("a", "a")).toEqual({ isHandled: true, newest: sequence(2) });
    expect(await memory.recall("b", "b")).toEqual({ isHandled: false, newest: undefined });
  });
});

await describeOnTables("the documented memory in DynamoDB", (tables) => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());

  const create = async (now?: () => number) => {
    const table = `t-${randomUUID()}`;
    await system.dynamodb.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
        AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      }),
    );
    return dynamoDbMemory(system.dynamodb, table, now);
  };

  behaves(create);

  it("remembers the sequence before the id: if it fails in between, the message is retried", async () => {
    const memory = await create();
    let writes = 0;
    const end = system.intercept(async ({ action }, phase) => {
      if (action !== "dynamodb:PutItem" || phase !== "before") return undefined;
      writes += 1;
      return writes === 2 ? { status: 500, errorType: "InternalServerError", message: "planted" } : undefined;
    });
    await expect(memory.remember({ id: "a", place: { series: "s", sequence: sequence(1) } })).rejects.toThrow(
      "planted",
    );
    end();
    expect(await memory.recall("a", "s")).toEqual({ isHandled: false, newest: sequence(1) });
  });
});
