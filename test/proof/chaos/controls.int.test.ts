import { randomUUID } from "node:crypto";
import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { eventTable } from "../../../adapters/dynamodb/event-table.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { bodyOf, identify, writeEnvelope } from "../../../domain/event/envelope.ts";
import { consumer } from "../../../functions/store/consumer.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { account } from "../../../proof/chaos/audit/audit-events.ts";
import { lineOf } from "../../../proof/chaos/observers/record-line.ts";
import { context, deliver, keptLog, type SqsHandler, sqsEvent } from "../../functions/support/lambda.ts";
import { describeOnTables, startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";

/** The account of a sound store, and of two that are broken on purpose. */
await describeOnTables("the account of a store", (tables) => {
  let system: TestSystem;
  let table: TestTable;
  let queueUrl: string;
  let store: SqsHandler;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    table = await system.createTable();
    queueUrl = await system.createQueue();
    store = consumer({
      record: eventTable(system.dynamodb, table.name, 30),
      recordCanary: async () => undefined,
      overflow: overflowBucket("none"),
      send: sqsSender(system.sqs),
      deadLetterQueueUrl: await system.createQueue(),
      mapping: defaultMapping.accounts,
      search: jmespathSearch,
      log: keptLog().log,
    });
  });

  const payload = () => ({ event: "connect_account", account_id: randomUUID(), user_id: randomUUID() });

  /**
   * Receives the same webhook at these times.
   * @returns its identity
   */
  async function receive(receivedAt: readonly string[]): Promise<string> {
    const raw = Buffer.from(JSON.stringify({ ...payload(), connected: true }));
    const id = identify("accounts", raw);
    const envelope = { schemaVersion: 1, kind: "accounts", id, body: bodyOf(raw) } as const;
    for (const at of receivedAt) await system.send(queueUrl, writeEnvelope({ ...envelope, receivedAt: at }));
    return id;
  }

  async function accountOf(id: string) {
    const records = (await table.stream()).flatMap(lineOf);
    const stored = new Set((await table.all()).map(({ sk }) => String(sk).replace("EVENT#", "")));
    return account({
      sent: [{ kind: "accounts", id, subjects: [], status: 202 }],
      records,
      messages: [],
      stored,
      deadLetters: new Set(),
      erased: new Set(),
      remains: [],
      losses: [],
      unready: [],
      wrongAttributes: [],
    });
  }

  const twice = ["2026-11-21T12:00:00.000Z", "2026-11-21T12:00:01.000Z"];

  test("that is sound: nothing lost, nothing doubled", async () => {
    const id = await receive(twice);
    await deliver(system, queueUrl, store);
    expect(await accountOf(id)).toMatchObject({
      sent: 1,
      stored: 1,
      lost: 0,
      duplicated: 0,
      unaccounted: [],
    });
  });

  test("that writes each receipt under a key of its own: duplicates", async () => {
    const sound = system.intercept(async ({ action, body }, phase) =>
      action === "dynamodb:BatchExecuteStatement" && phase === "before"
        ? { body: body.toString().replaceAll("USER#", () => `USER#${randomUUID()}`) }
        : undefined,
    );
    const id = await receive(twice);
    // Messages received together are merged, so each is stored separately.
    for (const message of await system.receive(queueUrl)) await store(sqsEvent([message]), context);
    sound();
    expect(await accountOf(id)).toMatchObject({ stored: 1, lost: 0, duplicated: 1 });
  });

  test("that has its messages deleted before it writes: a loss", async () => {
    const working = system.fail("dynamodb:BatchExecuteStatement");
    let writing: Promise<unknown> = Promise.resolve();
    const deleting: SqsHandler = async (event: SQSEvent, context) => {
      writing = Promise.resolve(store(event, context));
      return { batchItemFailures: [] };
    };
    const id = await receive(twice.slice(0, 1));
    expect(await deliver(system, queueUrl, deleting)).toEqual([]);
    await writing;
    working();
    expect(await accountOf(id)).toMatchObject({ stored: 0, lost: 1, duplicated: 0 });
  });
});
