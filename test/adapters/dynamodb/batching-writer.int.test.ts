import { randomUUID } from "node:crypto";
import {
  failStatements,
  type StatementError,
} from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { batchAction, batchEntries } from "@income-events/local-stack/gateway/tables/statements.ts";
import type { Call, Outcome } from "@income-events/local-stack/gateway/types.ts";
import { expect, onTestFinished, test } from "vitest";
import { batchingWriter, type Write, type WriteItem } from "../../../adapters/dynamodb/batching.ts";
import { describeOnEachTable } from "../../support/engines.ts";
import { systemWithTable } from "../../support/system-with-table.ts";

await describeOnEachTable("shared writes", (tables) => {
  const made = systemWithTable(tables);
  const waits: number[] = [];

  const writer = (): WriteItem =>
    batchingWriter(made.system.dynamodb, made.table.name, async (attempts) => {
      waits.push(attempts);
    });
  const keyOf = (pk: string) => ({ pk, sk: "S" });
  const insert = (pk: string, value: unknown = 1): Write => ({
    type: "insert",
    key: keyOf(pk),
    attributes: { map: { value }, left: undefined },
  });
  const update = (pk: string, known: number, value: unknown): Write => ({
    type: "update",
    key: keyOf(pk),
    attribute: "map",
    value: { value },
    where: [{ path: ["map", "value"], operator: "=", value: known }],
  });

  /**
   * Decides about each batch before it is sent.
   * @returns numbers of statements by request
   */
  const watch = (decide: (call: Call, requests: number) => Outcome = () => undefined) => {
    const sizes: number[] = [];
    onTestFinished(
      made.system.intercept(async (call, phase) => {
        if (call.action !== batchAction || phase !== "before") return undefined;
        sizes.push(batchEntries(call.body).length);
        return decide(call, sizes.length);
      }),
    );
    return sizes;
  };

  /** Fails the statement on a key and applies the others. */
  const failing = (pk: string, code: StatementError["code"], { body }: Call): Outcome => {
    const place = batchEntries(body).findIndex((entry) => JSON.stringify(entry).includes(pk));
    return place < 0 ? undefined : failStatements(body, new Map([[place, { code, message: "injected" }]]));
  };

  test("concurrent writes share requests of at most 25 statements", async () => {
    const sizes = watch();
    const write = writer();
    const keys = Array.from({ length: 30 }, () => randomUUID());
    const outcomes = await Promise.all(keys.map((pk) => write(insert(pk))));
    expect(new Set(outcomes)).toEqual(new Set(["written"]));
    expect(sizes.toSorted()).toEqual([25, 5]);
    for (const pk of keys) expect(await made.table.item(pk, "S")).toEqual({ pk, sk: "S", map: { value: 1 } });
  });

  test("an update is made on the item that it expects, and on no other", async () => {
    const [pk, missing] = [randomUUID(), randomUUID()];
    const write = writer();
    await write(insert(pk));
    expect(await Promise.all([write(update(pk, 2, 3)), write(update(missing, 1, 3))])).toEqual([
      "conflict",
      "conflict",
    ]);
    expect(await write(update(pk, 1, 2))).toBe("written");
    expect(await made.table.item(pk, "S")).toMatchObject({ map: { value: 2 } });
    expect(await made.table.item(missing, "S")).toBeUndefined();
  });

  test("an update that requires a different value is refused if the value is the same", async () => {
    const pk = randomUUID();
    const write = writer();
    await write(insert(pk));
    const unless = (value: number): Write => ({
      ...update(pk, 1, 9),
      ...{ where: [{ path: ["map", "value"], operator: "<>", value }] },
    });
    expect(await write(unless(1))).toBe("conflict");
    expect(await write(unless(2))).toBe("written");
  });

  test("a conflict is returned only to its writer", async () => {
    const [known, unknown] = [randomUUID(), randomUUID()];
    const write = writer();
    await write(insert(known));
    expect(await Promise.all([write(insert(known, 2)), write(insert(unknown))])).toEqual([
      "conflict",
      "written",
    ]);
    expect(await made.table.item(known, "S")).toMatchObject({ map: { value: 1 } });
  });

  test("writes to one key go into consecutive requests", async () => {
    const sizes = watch();
    const [pk, other] = [randomUUID(), randomUUID()];
    const write = writer();
    const writes = [insert(pk), insert(other), update(pk, 1, 2), update(pk, 2, 3)];
    expect(await Promise.all(writes.map(write))).toEqual(["written", "written", "written", "written"]);
    expect(sizes).toEqual([2, 1, 1]);
    expect(await made.table.item(pk, "S")).toMatchObject({ map: { value: 3 } });
  });

  test.each<StatementError["code"]>([
    "InternalServerError",
    "ProvisionedThroughputExceeded",
    "RequestLimitExceeded",
    "ThrottlingError",
    "TransactionConflict",
  ])("a statement that fails with %s is retried by itself, after a pause", async (code) => {
    waits.length = 0;
    const [pk, other] = [randomUUID(), randomUUID()];
    const sizes = watch((call, requests) => (requests <= 2 ? failing(pk, code, call) : undefined));
    const write = writer();
    expect(await Promise.all([write(insert(pk)), write(insert(other))])).toEqual(["written", "written"]);
    expect(sizes).toEqual([2, 1, 1]);
    expect(waits).toEqual([1, 2]);
  });

  test("a statement that stays throttled is a retryable failure after four attempts", async () => {
    const [pk, other] = [randomUUID(), randomUUID()];
    const sizes = watch((call) => failing(pk, "ThrottlingError", call));
    const write = writer();
    const [failed, written] = await Promise.allSettled([write(insert(pk)), write(insert(other))]);
    expect(failed).toMatchObject({ reason: { failure: { type: "retryable" } } });
    expect(written).toEqual({ status: "fulfilled", value: "written" });
    expect(sizes).toEqual([2, 1, 1, 1]);
    expect(await made.table.item(pk, "S")).toBeUndefined();
  });

  test.each<[StatementError["code"], string]>([
    ["AccessDenied", "retryable"],
    ["ResourceNotFound", "retryable"],
    ["ItemCollectionSizeLimitExceeded", "retryable"],
    ["ValidationError", "permanent"],
  ])("a statement that fails with %s fails at once, for its writer only: %s", async (code, kind) => {
    const [pk, other] = [randomUUID(), randomUUID()];
    const sizes = watch((call) => failing(pk, code, call));
    const write = writer();
    const [failed, written] = await Promise.allSettled([write(insert(pk)), write(insert(other))]);
    expect(failed).toMatchObject({ reason: { failure: { type: kind, reason: `DynamoDB: ${code}` } } });
    expect(written).toEqual({ status: "fulfilled", value: "written" });
    expect(sizes).toEqual([2]);
  });

  test("an item that is too large fails for its writer only", async () => {
    const [pk, other] = [randomUUID(), randomUUID()];
    const write = writer();
    const large = write(insert(pk, "x".repeat(410_000)));
    const [failed, written] = await Promise.allSettled([large, write(insert(other))]);
    expect(failed).toMatchObject({ reason: { failure: { type: "permanent" } } });
    expect(written).toEqual({ status: "fulfilled", value: "written" });
  });

  test("a request that DynamoDB rejects is repeated statement by statement", async () => {
    const [pk, other] = [randomUUID(), randomUUID()];
    const refusal = { status: 400, errorType: "ValidationException", message: "injected" };
    const sizes = watch((call, requests) => (requests === 1 || call.body.includes(pk) ? refusal : undefined));
    const write = writer();
    const [failed, written] = await Promise.allSettled([write(insert(pk)), write(insert(other))]);
    expect(failed).toMatchObject({ reason: { failure: { type: "permanent" } } });
    expect(written).toEqual({ status: "fulfilled", value: "written" });
    expect(sizes).toEqual([2, 1, 1]);
  });

  test("a failed request fails each of its writers", async () => {
    const working = made.system.fail(batchAction);
    const write = writer();
    const outcomes = await Promise.allSettled([write(insert(randomUUID())), write(insert(randomUUID()))]);
    working();
    expect(outcomes).toMatchObject([
      { reason: { name: "ServiceUnavailable" } },
      { reason: { name: "ServiceUnavailable" } },
    ]);
  });
});
