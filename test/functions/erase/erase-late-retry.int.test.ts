import { randomUUID } from "node:crypto";
import { DeleteMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FindErased } from "../../../adapters/erasure/find-erased.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { relay } from "../../../functions/relay/relay.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { describeOnTables, startTestSystem, type TestSystem } from "../../support/engines.ts";
import { createErasureFixture, type ErasureFixture, source } from "../support/erasing.ts";
import { context, keptLog, sqsEvent } from "../support/lambda.ts";
import { isRelayed, lambdaRecords } from "../support/relayed-records.ts";

/** More than the calls of one erasure's two passes. */
const maxRetries = 40;

await describeOnTables("an erasure, and late retries of webhooks of who is erased", (tables) => {
  let system: TestSystem;
  let fixture: ErasureFixture;
  let fetchQueueUrl: string;
  let userId: string;
  let accountId: string;
  let events: readonly IncomeEvent[];
  let relayedSoFar: number;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    fixture = await createErasureFixture(system);
    fetchQueueUrl = await system.createQueue();
    [userId, accountId, relayedSoFar] = [randomUUID(), randomUUID(), 0];
    const facts = { userId, receivedAt: "2026-11-21T11:00:00.000Z" };
    events = [
      { ...facts, id: "connected", kind: "accounts", type: "account.connected", accountId },
      { ...facts, id: "data", kind: "endpoints", type: "endpoint.updated", accountId, endpoint: "income" },
      { ...facts, id: "updated", kind: "users", type: "user.updated" },
    ];
  });

  const receive = async (event: IncomeEvent) => {
    await fixture.storing.record([receiptOf(event)]);
  };

  /** Relays all new records of the stream, and their effects. */
  async function relayAll(findErased: FindErased = fixture.findErased): Promise<void> {
    const { versionedRecords, link } = fixture.storing;
    const { publish, queueUrl, eventSource } = fixture.dependencies;
    const handler = relay({
      versionedRecords,
      link,
      findErased,
      removeSuperseded: () => Promise.reject(new Error("nothing expires here")),
      send: sqsSender(system.sqs),
      queues: { fetch: fetchQueueUrl, erase: queueUrl },
      publish,
      marks: { add: async () => 0, clear: async () => undefined },
      park: () => Promise.reject(new Error("nothing is parked here")),
      now: () => new Date(),
      erasesOnDeletion: false,
      settings: { source: eventSource, readByRange: [], documentsUrl: "https://reads.example/" },
      log: keptLog().log,
    });
    for (;;) {
      const records = (await fixture.table.stream()).filter((record) => isRelayed(record));
      if (records.length === relayedSoFar) return;
      const batch = records.slice(relayedSoFar);
      relayedSoFar = records.length;
      expect(await handler({ Records: lambdaRecords(batch) })).toEqual({ batchItemFailures: [] });
    }
  }

  /** Runs the eraser's steps until none is left. */
  async function eraseAll(): Promise<void> {
    const handler = eraser(fixture.dependencies);
    for (;;) {
      const messages = await system.receive(fixture.queueUrl);
      if (messages.length === 0) return;
      expect(await handler(sqsEvent(messages), context)).toEqual({ batchItemFailures: [] });
      for (const { ReceiptHandle } of messages) {
        await system.sqs.send(new DeleteMessageCommand({ QueueUrl: fixture.queueUrl, ReceiptHandle }));
      }
    }
  }

  async function comeToRest(): Promise<void> {
    for (let seen = -1; seen !== relayedSoFar; ) {
      seen = relayedSoFar;
      await relayAll();
      await eraseAll();
    }
  }
  const remains = async () =>
    (await fixture.table.all())
      .map((item) => JSON.stringify(item))
      .filter((text) => text.includes(userId) || text.includes(accountId));
  const ask = () =>
    system.send(fixture.queueUrl, writeEraseTask(eraseTask({ kind: "user", id: userId }, "operator")));

  test.each([
    ["are relayed at once", true],
    ["are relayed when it is over", false],
  ])("at any of its calls leave no data of an erased user if they %s", async (_, isRelayedAtOnce) => {
    for (const event of events) await receive(event);
    await relayAll();
    expect(await remains()).not.toEqual([]);
    await ask();

    let retries = 0;
    let isRetrying = false;
    const end = system.intercept(async ({ action }, phase) => {
      const isOfEraser = !isRetrying && phase === "before" && /^(dynamodb|s3):/.test(action);
      const event = events[retries % events.length];
      if (!isOfEraser || retries === maxRetries || event === undefined) return undefined;
      isRetrying = true;
      retries += 1;
      await receive(event);
      if (isRelayedAtOnce) await relayAll();
      isRetrying = false;
      return undefined;
    });
    await eraseAll();
    end();
    await comeToRest();

    expect(retries).toBeGreaterThan(20);
    expect(await remains()).toEqual([]);
    const announced = (await system.drain(fixture.subscriber)).map(({ Body = "" }): unknown =>
      JSON.parse(Body),
    );
    expect(announced).toContainEqual(expect.objectContaining({ type: "user.erased", source }));
  });

  test("leave no data of an erased user if the relay checked for the erasure before it, and wrote after it", async () => {
    await receive(events[2] ?? expect.unreachable());
    await relayAll();
    for (const event of events) await receive(event);
    const hasLooked = Promise.withResolvers<void>();
    const isErased = Promise.withResolvers<void>();
    const relaying = relayAll(async (subjects) => {
      const erased = await fixture.findErased(subjects);
      hasLooked.resolve();
      await isErased.promise;
      return erased;
    });
    await hasLooked.promise;
    await ask();
    await eraseAll();
    expect(await remains()).toEqual([]);
    isErased.resolve();
    await relaying;
    expect(await remains()).not.toEqual([]);
    await comeToRest();
    expect(await remains()).toEqual([]);
  });
});
