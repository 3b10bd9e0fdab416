import { randomUUID } from "node:crypto";
import { type ProviderAnswer, startTestProvider } from "@income-events/local-stack/provider.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "@income-events/sandbox/server.ts";
import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { documentReader, documentStore } from "../../../adapters/dynamodb/documents.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { messageDigest } from "../../../domain/fetch/document.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { type DocumentTask, documentTask, giveUpLimits, writeTask } from "../../../domain/fetch/task.ts";
import { fetcher } from "../../../functions/fetch/fetcher.ts";
import { keptPages } from "../../../functions/fetch/read-pages.ts";
import { startTestSystem, type TestBucket, type TestSystem } from "../../support/engines.ts";
import { fetchedDocuments } from "./fetched-documents.ts";
import { context, keptLog, type LogEntry, sqsEvent } from "./lambda.ts";

export const noon = new Date("2026-11-21T12:00:00Z");

export const settings: Omit<ProviderSettings, "paths"> = {
  requestsPerMinute: 1_000,
  breaker: { failures: 5, baseSeconds: 1, maxSeconds: 5 },
  timeouts: { connectSeconds: 2, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 1_000_000,
  maxDataBytes: 1_000_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 100 },
  allowPrivateAddresses: true,
};

const paths: ProviderSettings["paths"] = {
  read: "/api/v0.4/accounts/{account_id}/{endpoint}",
  readCompany: "/api/v0.4/company-accounts/{account_id}/{endpoint}",
  account: "/api/v0.4/accounts/{account_id}",
  companyAccount: "/api/v0.4/company-accounts/{account_id}",
  users: "/api/v0.4/users",
  refresh: "/api/v0.4/token/refresh",
};

export const income = { endpoint: "income" };

type Circumstances = {
  /** Remaining time of the function, evaluated at each read. */
  readonly timeLeft?: () => number;
  /** Receive count of the tasks. */
  readonly receives?: number;
  /** Called before each call. */
  readonly permit?: () => void;
  /** Called with each read of saved pages, before they are used. */
  readonly onPagesFound?: () => void;
  readonly others?: Partial<ProviderSettings>;
};

/** Statuses of the sandbox's calls. */
export const callsOf = (sandbox: Sandbox) =>
  sandbox
    .calls()
    .filter(({ path }) => path.endsWith("/income"))
    .map(({ status }) => status);

/** Fixture of the list tests, new for each: the records, a provider with pages, the fetcher's run. */
export function listFixture(tables: string) {
  const made = {} as {
    system: TestSystem;
    bucket: TestBucket;
    tableName: string;
    entries: LogEntry[];
    subject: Subject;
    clock: Date;
  };

  beforeAll(async () => {
    made.system = await startTestSystem(tables);
  });
  afterAll(() => made.system.close());
  beforeEach(async () => {
    [made.bucket, { name: made.tableName }] = await Promise.all([
      made.system.createBucket(),
      made.system.createTable(),
    ]);
    made.subject = { kind: "account", id: randomUUID() };
    made.clock = noon;
  });

  /**
   * Runs the fetcher once for some tasks, in messages `m0`, `m1` and so on.
   * @returns visibility timeouts of the remaining messages, and reasons of the rejected ones
   */
  async function run(
    remote: { readonly baseUrl: string; readonly token: string },
    tasks: readonly DocumentTask[] = [task()],
    circumstances: Circumstances = {},
  ) {
    const { timeLeft = () => 60_000, receives = 1, permit = () => undefined, others = {} } = circumstances;
    const provider = { ...settings, paths, ...others };
    const kept = keptLog();
    made.entries = kept.entries;
    const overflow = overflowBucket(made.bucket.name);
    const pages = keptPages(overflow);
    const hidden: number[] = [];
    const reasons: (string | undefined)[] = [];
    const api = new ProviderApi(remote.baseUrl, provider, () => noon);
    const shared = {
      read: batchingReader(made.system.dynamodb, made.tableName),
      write: batchingWriter(made.system.dynamodb, made.tableName),
    };
    const handler = fetcher({
      versionedRecords: versionedRecords(made.system.dynamodb, made.tableName, shared),
      documents: documentStore(shared.read, shared.write, overflow),
      readDocuments: documentReader(made.system.dynamodb, made.tableName),
      findErased: async () => new Set(),
      keptPages: {
        ...pages,
        find: async (of) => {
          const list = await pages.find(of);
          circumstances.onPagesFound?.();
          return list;
        },
      },
      reservedInMillis: 1_000,
      client: {
        call: async (apiCall) => {
          permit();
          return api.send(remote.token, apiCall);
        },
        gate: () => undefined,
        prepare: async () => undefined,
      },
      send: async (_, messages) => {
        reasons.push(...messages.map(({ reason }) => reason));
        return messages.map(() => undefined);
      },
      changeVisibility: async (_, messages) => {
        hidden.push(...messages.map(({ seconds }) => seconds));
        return messages.map(() => undefined);
      },
      queues: {
        fetch: { url: "tasks", deadLetterUrl: "dead letters" },
        checks: { url: "checks", deadLetterUrl: "dead checks" },
      },
      provider,
      attributes: {},
      startEndpoints: [],
      readAfterSeconds: 3_600,
      retrying: {
        retry: { baseSeconds: 100, maxSeconds: 400 },
        limits: giveUpLimits(1_209_600),
        longestOutageSeconds: 72 * 3_600,
      },
      clock: () => made.clock.getTime(),
      now: () => noon,
      random: () => 0,
      log: kept.log,
    });
    const messages = tasks.map((each, index) => ({ MessageId: `m${index}`, Body: writeTask(each) }));
    const { Records } = sqsEvent(messages, { receives, firstReceivedAt: noon });
    const event: SQSEvent = {
      Records: Records.map((record) => ({
        ...record,
        attributes: { ...record.attributes, SentTimestamp: String(noon.getTime()) },
      })),
    };
    await handler(event, { ...context, getRemainingTimeInMillis: timeLeft });
    return { hidden, reasons };
  }

  /** A task to read an account's income, wanted since a time. */
  const task = (of: Subject = made.subject, since = noon.getTime()) =>
    documentTask(of, income, since, { cause: `event-${randomUUID()}.1` });
  /** Saves pages of a task, as a run that ended before the last page. */
  const keepPagesOf = ({ subject: of, endpoint }: DocumentTask, messageId: string) => {
    const read = { asOf: noon.getTime(), by: [messageDigest(messageId)], known: undefined };
    const from = { next: "kept", pages: 1, mark: "mark" };
    const list = { read, from, items: [Buffer.from("1")] };
    return keptPages(overflowBucket(made.bucket.name)).keep({ subject: of, endpoint, messageId }, list);
  };
  const documentsOf = (of: Subject) =>
    fetchedDocuments(() => ({ ...made, table: { name: made.tableName }, subject: of }));
  const stored = (of: Subject = made.subject) => documentsOf(of).content();

  /** A sandbox with one account whose income has eight items. */
  async function sandboxFor(options: SandboxOptions = {}): Promise<Sandbox> {
    const sandbox = await startSandbox(options);
    onTestFinished(() => sandbox.close());
    const { accounts } = await sandbox.createUsers(1);
    const id = accounts[0] ?? "";
    await fetch(`${sandbox.baseUrl}/api/v0.4/accounts/${id}/fetches`, {
      method: "POST",
      headers: { authorization: `Bearer ${sandbox.token}`, "content-type": "application/json" },
      body: JSON.stringify({ endpoints: ["income"] }),
    });
    await sandbox.waitUntilIdle();
    made.subject = { kind: "account", id };
    return sandbox;
  }

  const wholeOf = (sandbox: Sandbox) => ({ ...Object(sandbox.data(made.subject.id, "income")), next: null });

  /** A scripted provider; reports the path and query of each call. */
  async function providerFor(
    answer: (path: string, count: number) => ProviderAnswer | Promise<ProviderAnswer>,
  ) {
    const provider = await startTestProvider();
    onTestFinished(provider.close);
    provider.answer = ({ path }, count) => answer(path, count);
    return { baseUrl: provider.url, token: "jwt", requests: provider.requests };
  }

  return Object.assign(made, {
    run,
    task,
    documentsOf,
    keepPagesOf,
    stored,
    sandboxFor,
    wholeOf,
    providerFor,
  });
}
