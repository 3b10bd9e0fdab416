import { beforeEach, expect, test } from "vitest";
import type { FindErased } from "../../../adapters/erasure/find-erased.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { eraseTask } from "../../../domain/recovery/erasure.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { relay } from "../../../functions/relay/relay.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { describeOnTables } from "../../support/engines.ts";
import { eraserFixture } from "../support/eraser-fixture.ts";
import { source } from "../support/erasing.ts";
import { keptLog } from "../support/lambda.ts";
import { isRelayed, lambdaRecords } from "../support/relayed-records.ts";

/** More than the calls of one erasure's two passes. */
const maxRetries = 40;

await describeOnTables("an erasure, and late retries of webhooks of who is erased", (tables) => {
  const fixture = eraserFixture(tables);
  let fetchQueueUrl: string;
  let events: readonly IncomeEvent[];
  let relayedSoFar: number;
  beforeEach(async () => {
    fetchQueueUrl = await fixture.system.createQueue();
    relayedSoFar = 0;
    const facts = { userId: fixture.user.id, receivedAt: "2026-11-21T11:00:00.000Z" };
    const { id: accountId } = fixture.account;
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
      send: sqsSender(fixture.system.sqs),
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

  async function eraseAll(): Promise<void> {
    const handler = eraser(fixture.dependencies);
    await fixture.run(async (event, context) => {
      const answer = await handler(event, context);
      expect(answer).toEqual({ batchItemFailures: [] });
      return answer;
    });
  }

  async function comeToRest(): Promise<void> {
    for (let seen = -1; seen !== relayedSoFar; ) {
      seen = relayedSoFar;
      await relayAll();
      await eraseAll();
    }
  }
  const remains = () => fixture.remains(fixture.user.id, fixture.account.id);
  const ask = () => fixture.ask(eraseTask(fixture.user, "operator"));

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
    const end = fixture.system.intercept(async ({ action }, phase) => {
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
    expect(await fixture.bodies(fixture.subscriber)).toContainEqual(
      expect.objectContaining({ type: "user.erased", source }),
    );
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
