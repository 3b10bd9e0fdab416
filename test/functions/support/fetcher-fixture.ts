import { randomUUID } from "node:crypto";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { documentReader, documentStore } from "../../../adapters/dynamodb/documents.ts";
import { documentKey } from "../../../adapters/dynamodb/keys.ts";
import {
  sharedRecords,
  type VersionedRecords,
  versionedRecords,
} from "../../../adapters/dynamodb/versioned-records.ts";
import { findErased, subjectDigest } from "../../../adapters/erasure/find-erased.ts";
import { tombstones } from "../../../adapters/erasure/tombstones.ts";
import { CircuitBreaker } from "../../../adapters/provider/circuit-breaker.ts";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { GuardedApi, ProviderClient } from "../../../adapters/provider/provider-client.ts";
import { callCounters, RateLimiter } from "../../../adapters/provider/rate-limiter.ts";
import { RefusalNote, TokenRefusals } from "../../../adapters/provider/token-refusals.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { batchingSender, messageVisibility, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { DataName } from "../../../domain/fetch/document.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import {
  type DocumentTask,
  documentTask,
  type FetchTask,
  giveUpLimits,
  type TaskCause,
} from "../../../domain/fetch/task.ts";
import { parseTokenSecret } from "../../../domain/fetch/token.ts";
import type { State } from "../../../domain/state/state.ts";
import type { FetcherDependencies } from "../../../functions/fetch/fetch-document.ts";
import { fetcher } from "../../../functions/fetch/fetcher.ts";
import { keptPages } from "../../../functions/fetch/read-pages.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { startTestProvider, type TestProvider } from "../../support/test-provider.ts";
import { provider, started } from "./fetcher-settings.ts";
import { keptLog, type LogEntry } from "./lambda.ts";
import { savedDocuments } from "./saved-documents.ts";
import { type Delivered, type Seen, TaskDeliveries } from "./task-deliveries.ts";

export const readAfterSeconds = 3_600;

export const noon = new Date("2026-11-21T12:00:30Z");

export const income = { endpoint: "income" };

const day = 86_400;

const patient: FetcherDependencies["retrying"] = {
  retry: { baseSeconds: 200, maxSeconds: 900 },
  limits: giveUpLimits(14 * day),
  longestOutageSeconds: 72 * 3_600,
};

async function reach(version: number, write: (version: number) => Promise<void>): Promise<void> {
  for (let next = 1; next <= version; next += 1) await write(next);
}

/**
 * Fixture of the fetcher's tests, new for each: the provider, the records, the queues, the fetcher. AWS's
 * times follow the test's clock.
 */
export function fetcherFixture(tables: string) {
  const made = {} as {
    system: TestSystem;
    remote: TestProvider;
    table: TestTable;
    bucket: TestBucket;
    known: VersionedRecords;
    tasks: TaskDeliveries;
    checks: TaskDeliveries;
    token: string;
    erasureKey: string;
    refreshesAsked: number;
    entries: LogEntry[];
    clock: Date;
    subject: Subject;
    retrying: FetcherDependencies["retrying"];
    causes: number;
  };

  beforeAll(async () => {
    [made.system, made.remote] = await Promise.all([startTestSystem(tables), startTestProvider()]);
    made.bucket = await made.system.createBucket();
    made.erasureKey = made.system.createSecret({ key: "of the stage" });
  });
  afterAll(() => Promise.all([made.system.close(), made.remote.close()]));

  beforeEach(async () => {
    [made.table, made.tasks, made.checks] = await Promise.all([
      made.system.createTable(),
      TaskDeliveries.create(made.system, { FifoQueue: "true" }),
      TaskDeliveries.create(made.system),
    ]);
    made.known = versionedRecords(made.system.dynamodb, made.table.name);
    made.token = made.system.createSecret({ token: "jwt" });
    made.refreshesAsked = 0;
    made.subject = { kind: "account", id: randomUUID() };
    made.clock = noon;
    made.retrying = patient;
    made.causes = 0;
    made.remote.requests.length = 0;
    made.remote.answer = () => 500;
  });

  const askRefresh = async () => {
    made.refreshesAsked += 1;
  };
  const digestOf = () => subjectDigest(made.system.secretsManager, made.erasureKey);

  /** One environment of the function, with its own token and permits. */
  function fetcherOf(settings: ProviderSettings = provider, others: Partial<FetcherDependencies> = {}) {
    const kept = keptLog();
    made.entries = kept.entries;
    const now = () => made.clock;
    const reader = secretReader(made.system.secretsManager, made.token, parseTokenSecret, { now });
    const note = new RefusalNote(made.system.dynamodb, made.table.name);
    const refusals = new TokenRefusals(note, askRefresh, now);
    const overflow = overflowBucket(made.bucket.name);
    const shared = {
      read: batchingReader(made.system.dynamodb, made.table.name),
      write: batchingWriter(made.system.dynamodb, made.table.name),
    };
    const breaker = new CircuitBreaker(made.system.dynamodb, made.table.name, {
      settings: settings.breaker,
      read: shared.read,
      longestCallInSeconds: 11,
      now,
      random: () => 0.5,
      onStateChange: () => undefined,
    });
    const counters = callCounters(made.system.dynamodb, made.table.name);
    const limiter = new RateLimiter(counters, settings.requestsPerMinute, { now });
    const api = new GuardedApi({
      api: new ProviderApi(made.remote.url, settings, now),
      breaker,
      limiter,
      patienceInSeconds: 0,
      now,
    });
    const client = new ProviderClient(api, reader, refusals);
    return fetcher({
      versionedRecords: sharedRecords(shared),
      documents: documentStore(shared.read, shared.write, overflow),
      readDocuments: documentReader(made.system.dynamodb, made.table.name),
      findErased: findErased(shared.read, digestOf(), { seconds: 0 }),
      keptPages: keptPages(overflow),
      reservedInMillis: 1_000,
      client,
      send: batchingSender(sqsSender(made.system.sqs)),
      changeVisibility: messageVisibility(made.system.sqs),
      queues: { fetch: made.tasks.queue, checks: made.checks.queue },
      provider: settings,
      attributes: {},
      startEndpoints: ["income", "profile"],
      readAfterSeconds,
      retrying: made.retrying,
      clock: () => made.clock.getTime(),
      now,
      random: () => 0.5,
      log: kept.log,
      ...others,
    });
  }

  /** SQS's attributes of each message, at the test's time. */
  const seenNow = (seen: Seen = {}): Seen => ({ sentAt: made.clock, firstReceivedAt: made.clock, ...seen });

  /**
   * Sends tasks, which are delivered in one batch.
   * @returns the bodies that stay in the queue
   */
  async function perform(
    given: FetchTask | string | readonly FetchTask[],
    settings = provider,
    seen: Seen = {},
  ): Promise<readonly string[]> {
    await made.tasks.send(typeof given === "string" || "type" in given ? [given] : given);
    return (await made.tasks.deliver(fetcherOf(settings), seenNow(seen))).left;
  }

  /** Redelivers what stayed in the queue, whatever its visibility timeout. */
  async function performAgain(settings = provider, seen: Seen = {}): Promise<Delivered> {
    await made.tasks.show();
    return made.tasks.deliver(fetcherOf(settings), seenNow(seen));
  }

  /** Delivers the check of a start from its own queue. */
  async function performCheck(check: FetchTask, seen: Seen = {}): Promise<readonly string[]> {
    await made.checks.send([check]);
    return (await made.checks.deliver(fetcherOf(started), seenNow(seen))).left;
  }

  const codes = () => made.entries.map(({ code }) => code);
  /** Postponed tasks, with seconds and reason. */
  const postponed = () =>
    made.entries
      .filter(({ code }) => code === "TASK_POSTPONED")
      .map(({ delayInSeconds, reason }) => ({ delayInSeconds, reason }));
  const calls = () => made.remote.requests.map(({ method, path }) => `${method} ${path}`);

  /**
   * A task for the subject, with its own cause.
   * @param secondsAgo time since which the document is wanted
   */
  function read(name: DataName = income, secondsAgo = 10, more: Partial<TaskCause> = {}): DocumentTask {
    made.causes += 1;
    const since = made.clock.getTime() - secondsAgo * 1000;
    return documentTask(made.subject, name, since, { cause: `event-${made.causes}.1`, ...more });
  }

  const put = (facts: Partial<State> = {}) =>
    // A state is written only over its previous version.
    reach(facts.version ?? 1, (version) =>
      made.known.reviseState(made.subject, () => ({
        subject: made.subject,
        deleted: false,
        unconfirmed: true,
        processed: [],
        latest: { cause: "again" },
        ...facts,
        version,
      })),
    );
  /** Writes a subject's tombstone. */
  const erase = async (whom: Subject) => {
    await tombstones(made.system.dynamodb, made.table.name, 1, () => made.clock).place(
      await digestOf()(whom),
      undefined,
    );
  };

  const documents = () => savedDocuments(made.system, made.table, made.bucket);
  /**
   * Stores the subject's document as a call left it.
   * @param secondsAgo time of the call
   */
  const stored = (text: string | undefined, secondsAgo: number, name: DataName = income) =>
    documents().save(made.subject, text, { asOf: made.clock.getTime() - secondsAgo * 1000, name });
  const document = async (name: DataName = income) => (await documents().load(made.subject, name))?.document;
  const content = (name: DataName = income) => documents().content(made.subject, name);
  /** Removes the stored document, as an erasure does. */
  const removeDocument = () =>
    made.system.dynamodb.send(
      new DeleteItemCommand({
        TableName: made.table.name,
        Key: marshall(documentKey(made.subject, income)),
      }),
    );

  return Object.assign(made, {
    fetcherOf,
    seenNow,
    perform,
    performAgain,
    performCheck,
    codes,
    postponed,
    calls,
    read,
    put,
    erase,
    stored,
    document,
    content,
    removeDocument,
  });
}
