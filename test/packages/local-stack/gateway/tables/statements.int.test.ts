import { randomUUID } from "node:crypto";
import {
  BatchExecuteStatementCommand,
  type BatchStatementRequest,
  GetItemCommand,
} from "@aws-sdk/client-dynamodb";
import {
  applyFirst,
  failStatements,
  type StatementError,
} from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import type { ThrottleEvent } from "@income-events/local-stack/gateway/tables/throttle-events.ts";
import type { Interceptor, Principal } from "@income-events/local-stack/gateway/types.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnEachTable } from "../../../../support/engines.ts";
import {
  account,
  clients,
  createTable,
  type LocalSystem,
  region,
  startLocalSystem,
} from "../local-system.ts";

// The engines are shared with other files.
const facts = `Facts-${randomUUID()}`;
const tableArn = `arn:aws:dynamodb:${region}:${account}:table/${facts}`;

function insert(pk: string, size = 1): BatchStatementRequest {
  return {
    Statement: `INSERT INTO "${facts}" VALUE {'pk': ?, 'sk': 'a', 'v': ?}`,
    Parameters: [{ S: pk }, { S: "x".repeat(size) }],
  };
}

function update(pk: string, known: string): BatchStatementRequest {
  return {
    Statement: `UPDATE "${facts}" SET v = ? WHERE pk = ? AND sk = 'a' AND v = ?`,
    Parameters: [{ S: "y" }, { S: pk }, { S: known }],
  };
}

function select(pk: string, ConsistentRead = false): BatchStatementRequest {
  return {
    Statement: `SELECT * FROM "${facts}" WHERE pk = ? AND sk = 'a'`,
    Parameters: [{ S: pk }],
    ConsistentRead,
  };
}

await describeOnEachTable("batched statements", (tables) => {
  const throttled: ThrottleEvent[] = [];
  let system: LocalSystem;

  beforeAll(async () => {
    const onThrottled = (event: ThrottleEvent) => void throttled.push(event);
    system = await startLocalSystem({ tables, engines: { countsCapacity: true, onThrottled } });
    await createTable(system, facts, "pk", "sk");
  });

  afterAll(async () => {
    await system.close();
  });

  async function run(Statements: BatchStatementRequest[], caller: Principal = system.operator) {
    const { dynamodb: client } = clients(system, caller);
    const { Responses = [] } = await client.send(new BatchExecuteStatementCommand({ Statements }));
    return Responses.map(({ Error: error, Item }) => error?.Code ?? Item?.v?.S ?? "done");
  }

  async function intercepted<T>(interceptor: Interceptor, action: () => Promise<T>): Promise<T> {
    const stop = system.gateway.intercept(interceptor);
    try {
      return await action();
    } finally {
      stop();
    }
  }

  async function stored(pk: string): Promise<boolean> {
    const Key = { pk: { S: pk }, sk: { S: "a" } };
    const get = new GetItemCommand({ TableName: facts, Key });
    return (await clients(system, system.operator).dynamodb.send(get)).Item !== undefined;
  }

  test("each has its own condition and its own error, and the others are applied", async () => {
    expect(await run([insert("a"), insert("b")])).toEqual(["done", "done"]);
    expect(await run([insert("a"), update("b", "other"), insert("c")])).toEqual([
      "DuplicateItem",
      "ConditionalCheckFailed",
      "done",
    ]);
    expect(await run([select("c"), select("none")])).toEqual(["x", "done"]);
  });

  test("need the permission of each statement's verb on its table", async () => {
    const inserter = system.caller("inserter", ["dynamodb:PartiQLInsert", tableArn]);
    expect(await run([insert("p1"), insert("p2")], inserter)).toEqual(["done", "done"]);
    await expect(run([insert("p3"), update("p1", "x")], inserter)).rejects.toMatchObject({
      name: "AccessDeniedException",
      message: expect.stringContaining(`dynamodb:PartiQLUpdate on resource: ${tableArn}`),
    });
    expect(await stored("p3")).toBe(false);
    await expect(run([select("p1")], inserter)).rejects.toThrow("dynamodb:PartiQLSelect");
    const remove = { Statement: `DELETE FROM "${facts}" WHERE pk = 'p1' AND sk = 'a'` };
    await expect(run([remove], inserter)).rejects.toThrow("dynamodb:PartiQLDelete");
    expect(await run([remove], system.caller("remover", ["dynamodb:PartiQLDelete", tableArn]))).toEqual([
      "done",
    ]);
  });

  test("fail as a whole with one key twice, reads beside writes, or more than 25 of them", async () => {
    const refused = (statements: BatchStatementRequest[]) =>
      expect(run(statements)).rejects.toMatchObject({ name: "ValidationException" });
    await refused([insert("twice"), insert("twice")]);
    await refused([select("twice"), select("twice")]);
    await refused([insert("mixed"), select("a")]);
    await refused(Array.from({ length: 26 }, (_, index) => insert(`many${index}`)));
    expect(await Promise.all(["twice", "mixed", "many0"].map(stored))).toEqual([false, false, false]);
  });

  test("have at most 8,192 characters each", async () => {
    const statement = `SELECT * FROM "${facts}" WHERE pk = 'a' AND sk = 'a'`;
    expect(await run([{ Statement: statement.padEnd(8_192) }])).toEqual(["x"]);
    await expect(run([{ Statement: statement.padEnd(8_193) }])).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining("'statements.1.member.statement'"),
    });
  });

  test("consume by item and statement; a failed INSERT or condition as the write that it tried", async () => {
    const caller = system.caller("counted", ["dynamodb:*", tableArn]);
    const units = () => system.gateway.capacity().get("counted dynamodb:BatchExecuteStatement");
    await run([insert("u1"), insert("u2", 2_500)], caller);
    expect(units()).toEqual({ readUnits: 0, writeUnits: 1 + 3 });
    await run([insert("u1"), insert("u2"), insert("u3")], caller);
    expect(units()?.writeUnits).toBe(4 + 1 + 3 + 1);
    await run([insert("u1", 2_500)], caller);
    expect(units()?.writeUnits).toBe(9 + 3);
    await run([update("u2", "other"), update("u1", "x")], caller);
    expect(units()?.writeUnits).toBe(12 + 3 + 1);
    await run([select("u1"), select("u2", true), select("none")], caller);
    expect(units()).toEqual({ readUnits: 0.5 + 1 + 0.5, writeUnits: 16 });
  });

  const slow: StatementError = { code: "ThrottlingError", message: "Slow down" };

  test("some can be throttled while the others are applied, in an answer of 200", async () => {
    throttled.length = 0;
    const interceptor: Interceptor = async ({ body, action }, phase) =>
      phase === "before" && action === "dynamodb:BatchExecuteStatement"
        ? failStatements(body, new Map([[1, slow]]))
        : undefined;
    const results = await intercepted(interceptor, () => run([insert("t1"), insert("t2"), insert("t1b")]));
    expect(results).toEqual(["done", "ThrottlingError", "done"]);
    expect(await intercepted(interceptor, () => run([insert("t3"), insert("t4")]))).toContain(
      "ThrottlingError",
    );
    expect(await Promise.all(["t1", "t2", "t1b"].map(stored))).toEqual([true, false, true]);
    const event = { tableName: facts, metric: "WriteThrottleEvents" };
    expect(throttled).toEqual([event, event]);
  });

  test("a caller can die between two of them, with the first ones applied", async () => {
    const dies: Interceptor = async ({ body }, phase) => (phase === "before" ? applyFirst(body, 1) : "drop");
    await expect(intercepted(dies, () => run([insert("d1"), insert("d2")]))).rejects.toMatchObject({
      code: "ECONNRESET",
    });
    expect(await Promise.all(["d1", "d2"].map(stored))).toEqual([true, false]);
  });
});
