import { randomBytes, randomUUID } from "node:crypto";
import { ChangeMessageVisibilityCommand, DeleteMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { readReport } from "../../../adapters/erasure/erasure-report.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import { ownerOf, type Subject } from "../../../domain/event/subjects.ts";
import { type EraseTask, eraseTask, writeEraseTask } from "../../../domain/recovery/erasure.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import { eraser } from "../../../functions/erase/eraser.ts";
import { receiptOf } from "../../adapters/dynamodb/receipt.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";
import { createErasureFixture, type ErasureFixture } from "./erasing.ts";
import { deliver } from "./lambda.ts";

/** More than an item takes, however it is compressed. */
export const large = () => JSON.stringify(randomBytes(20_000).toString("base64"));

/** Pages of a list that a fetch keeps. */
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

/**
 * What the eraser's tests share, made again for each: a user with accounts, what is stored of them, the eraser's queue.
 */
export function eraserFixture(tables: string) {
  let system: TestSystem;
  let fixture: ErasureFixture;
  let user: Subject;
  let account: Subject;
  let other: Subject;
  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    fixture = await createErasureFixture(system);
    user = { kind: "user", id: randomUUID() };
    account = { kind: "account", id: randomUUID() };
    other = { kind: "account", id: randomUUID() };
  });

  /** Stores an event as the consumer does, and what the relay makes of it. */
  async function store(facts: Partial<IncomeEvent>, bodyObject?: string): Promise<void> {
    const { storing } = fixture;
    const event = eventOf(facts);
    const body = { as: "object", key: bodyObject ?? "", of: "text", bytes: 1 } as const;
    await storing.record([receiptOf(event, bodyObject === undefined ? undefined : body)]);
    const { accountId, endpoint } = event;
    // Data that an event announces changes no state, and joins nobody.
    if (endpoint !== undefined) return;
    await storing.versionedRecords.state(
      accountId === undefined ? ownerOf(event) : { kind: "account", id: accountId },
      (state) => applyEvent(state, event, 1),
    );
    if (event.userId !== undefined && accountId !== undefined) await storing.link(event.userId, accountId);
  }

  /** A user with an account that has everything which can be kept of one, beside an account of another user. */
  async function storeAll(): Promise<void> {
    const { storing, overflow, put } = fixture;
    const [userId, accountId] = [user.id, account.id];
    await put(overflow.name, "bodies/accounts/one", "{}");
    await store({ kind: "users", type: "user.created", userId });
    await store({ userId, accountId }, "bodies/accounts/one");
    await store({ accountId, kind: "endpoints", type: "endpoint.updated", endpoint: "income" });
    await storing.document(account, "income", "{}");
    await storing.document(account, "profile", large());
    // A later fetch has superseded the object before it, which no item points to any more.
    await storing.document(account, "profile", large());
    await keptPages(storing.overflow).keep(pagesOf(account), pages);
    await store({ userId: randomUUID(), accountId: other.id });
    await storing.document(other, "profile", large());
  }

  /** Delivers until the queue is empty. @returns how many messages that took */
  async function run(handler = eraser(fixture.dependencies)): Promise<number> {
    for (let count = 0; ; count += 1) {
      const [waiting] = await system.receive(fixture.queueUrl);
      if (waiting === undefined) return count;
      await system.send(fixture.queueUrl, waiting.Body ?? "");
      await drop(waiting.ReceiptHandle);
      await deliver(system, fixture.queueUrl, handler);
    }
  }
  const drop = (ReceiptHandle: string | undefined) =>
    system.sqs.send(new DeleteMessageCommand({ QueueUrl: fixture.queueUrl, ReceiptHandle }));
  const showAgain = (ReceiptHandle: string | undefined) =>
    system.sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: fixture.queueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
    );
  const ask = (task: EraseTask) => system.send(fixture.queueUrl, writeEraseTask(task));
  const erase = async (subject: Subject, namedWith: readonly Subject[] = []) => {
    await ask(eraseTask(subject, "operator", namedWith, "followed"));
    await run();
  };
  /** Keys of all that names one of some ids. */
  const remains = async (...ids: readonly string[]) => {
    const items = (await fixture.table.all()).map((item) => JSON.stringify(item));
    const keys = await Promise.all(
      [fixture.overflow, fixture.failures, fixture.archive, fixture.log].map((bucket) => bucket.keys()),
    );
    return [...items, ...keys.flat()].filter((text) => ids.some((id) => text.includes(id)));
  };
  const report = () => readReport(system.dynamodb, fixture.table.name, "followed");
  const bodies = async (url: string) =>
    (await system.drain(url)).map(({ Body = "" }): unknown => JSON.parse(Body));
  const isErased = async (...subjects: readonly Subject[]) =>
    [...(await fixture.findErased(subjects))].toSorted();

  return {
    get system() {
      return system;
    },
    get fixture() {
      return fixture;
    },
    get user() {
      return user;
    },
    get account() {
      return account;
    },
    get other() {
      return other;
    },
    store,
    storeAll,
    run,
    drop,
    showAgain,
    ask,
    erase,
    remains,
    report,
    bodies,
    isErased,
  };
}
