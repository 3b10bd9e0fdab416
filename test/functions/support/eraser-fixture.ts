import { randomBytes, randomUUID } from "node:crypto";
import { ChangeMessageVisibilityCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { readReport } from "../../../adapters/erasure/tombstones.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { ownerOf, type Subject } from "../../../domain/event/subjects.ts";
import { type EraseTask, eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { keptPages } from "../../../functions/fetch/read-pages.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";
import { createErasureFixture, type ErasureFixture } from "./erasing.ts";
import { context, deliver, type SqsHandler, settle, sqsEvent } from "./lambda.ts";

/** Exceeds an item, however it is compressed. */
export const large = () => JSON.stringify(randomBytes(20_000).toString("base64"));

/** Saved pages of a list. */
export const pagesOf = (subject: Subject) => ({ subject, endpoint: "income", messageId: "m" });
export const pages = {
  read: { asOf: 1, by: [], known: undefined },
  from: { next: "b", pages: 1, mark: "a" },
  items: [Buffer.from("[]")],
};

export function eventOf(facts: Partial<IncomeEvent>): IncomeEvent {
  return {
    id: randomUUID(),
    kind: "accounts",
    type: "account.connected",
    receivedAt: "2026-11-21T11:00:00.000Z",
    ...facts,
  };
}

/** Fixture of the eraser's tests, new for each: a user with accounts, their records, the eraser's queue. */
export function eraserFixture(tables: string) {
  const made = {} as ErasureFixture & { system: TestSystem; user: Subject; account: Subject; other: Subject };
  beforeAll(async () => {
    made.system = await startTestSystem(tables);
  });
  afterAll(() => made.system.close());
  beforeEach(async () => {
    Object.assign(made, await createErasureFixture(made.system));
    made.user = { kind: "user", id: randomUUID() };
    made.account = { kind: "account", id: randomUUID() };
    made.other = { kind: "account", id: randomUUID() };
  });

  /** Stores an event as the consumer does, and its effects as the relay does. */
  async function store(facts: Partial<IncomeEvent>, bodyObject?: string): Promise<void> {
    const { storing } = made;
    const event = eventOf(facts);
    const body = { type: "object", key: bodyObject ?? "", encoding: "text", bytes: 1 } as const;
    await storing.record([receiptOf(event, bodyObject === undefined ? undefined : body)]);
    const { accountId, endpoint } = event;
    // Data that an event announces changes no state, and joins nobody.
    if (endpoint !== undefined) return;
    await storing.versionedRecords.reviseState(
      accountId === undefined ? ownerOf(event) : { kind: "account", id: accountId },
      (state) => applyEvent(state, event, 1),
    );
    if (event.userId !== undefined && accountId !== undefined) await storing.link(event.userId, accountId);
  }

  /** Stores a user with an account that has every kind of record, beside another user's account. */
  async function storeAll(): Promise<void> {
    const { storing, overflow, put } = made;
    const [userId, accountId] = [made.user.id, made.account.id];
    await put(overflow.name, "bodies/accounts/one", "{}");
    await store({ kind: "users", type: "user.created", userId });
    await store({ userId, accountId }, "bodies/accounts/one");
    await store({ accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
    await storing.document(made.account, "income", "{}");
    await storing.document(made.account, "profile", large());
    // A later fetch has superseded the previous object, which no item references any more.
    await storing.document(made.account, "profile", large());
    await keptPages(storing.overflow).keep(pagesOf(made.account), pages);
    await store({ userId: randomUUID(), accountId: made.other.id });
    await storing.document(made.other, "profile", large());
  }

  /**
   * Delivers until the queue is empty.
   * @returns the number of messages
   */
  async function run(handler: SqsHandler = eraser(made.dependencies)): Promise<number> {
    for (let count = 0; ; count += 1) {
      const messages = await made.system.receive(made.queueUrl);
      if (messages.length === 0) return count;
      const answer = await handler(sqsEvent(messages), context);
      await settle(made.system, made.queueUrl, messages, answer);
    }
  }
  const showAgain = (ReceiptHandle: string | undefined, QueueUrl = made.queueUrl) =>
    made.system.sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
    );
  /** Runs the function once. */
  const step = (handler: SqsHandler = eraser(made.dependencies)) =>
    deliver(made.system, made.queueUrl, handler);
  /** Runs the function once, with these remaining times. */
  const stepFor = async (...times: number[]) =>
    eraser(made.dependencies)(sqsEvent(await made.system.receive(made.queueUrl)), {
      getRemainingTimeInMillis: () => times.shift() ?? 10_000,
    });
  const ask = (task: EraseTask) => made.system.send(made.queueUrl, writeEraseTask(task));
  /** Asks for the user's erasure from a step on. */
  const askFrom = (next: EraseTask["next"], more: Partial<EraseTask> = {}) =>
    ask({ ...eraseTask(made.user, "operator", [], "followed"), next, erased: [made.user], ...more });
  const erase = async (subject: Subject) => {
    await ask(eraseTask(subject, "operator", [], "followed"));
    await run();
  };
  /** Keys of all records that contain one of these ids. */
  const remains = async (...ids: readonly string[]) => {
    const items = (await made.table.all()).map((item) => JSON.stringify(item));
    const keys = await Promise.all(
      [made.overflow, made.failures, made.archive, made.log].map((bucket) => bucket.keys()),
    );
    return [...items, ...keys.flat()].filter((text) => ids.some((id) => text.includes(id)));
  };
  const report = () => readReport(made.system.dynamodb, made.table.name, "followed");
  const bodies = async (url: string) =>
    (await made.system.drain(url)).map(({ Body = "" }): unknown => JSON.parse(Body));
  const isErased = async (...subjects: readonly Subject[]) =>
    [...(await made.findErased(subjects))].toSorted();

  return Object.assign(made, {
    store,
    storeAll,
    run,
    step,
    stepFor,
    showAgain,
    ask,
    askFrom,
    erase,
    remains,
    report,
    bodies,
    isErased,
  });
}
