import { randomUUID } from "node:crypto";
import { type ProviderAnswer, startTestProvider } from "@income-events/local-stack/provider.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "@income-events/sandbox/server.ts";
import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { contentReader, contentStore } from "../../../adapters/dynamodb/document-store.ts";
import { versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Outgoing } from "../../../adapters/sqs/sqs-sender.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { readTaskText, type Task, writeTask } from "../../../domain/fetch/tasks.ts";
import { fetcher } from "../../../functions/fetch/fetcher.ts";
import { startTestSystem, type TestBucket, type TestSystem } from "../../support/engines.ts";
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
  /** Of the function, for each look at it. */
  readonly timeLeft?: () => number;
  /** Asked after each look at what is wanted. */
  readonly claim?: () => Promise<void>;
  /** Asked before each call. */
  readonly permit?: () => void;
  readonly others?: Partial<ProviderSettings>;
};

/** The statuses of the calls that the sandbox counted. */
export const callsOf = (sandbox: Sandbox) =>
  sandbox
    .calls()
    .filter(({ path }) => path.endsWith("/income"))
    .map(({ status }) => status);

/**
 * What the tests of lists share, made again for each: the records, a provider that answers in pages, the fetcher's run.
 */
export function listFixture(tables: string) {
  let system: TestSystem;
  let bucket: TestBucket;
  let tableName: string;
  let entries: LogEntry[];
  let subject: Subject;

  beforeAll(async () => {
    system = await startTestSystem(tables);
  });
  afterAll(() => system.close());
  beforeEach(async () => {
    [bucket, { name: tableName }] = await Promise.all([system.createBucket(), system.createTable()]);
    subject = { kind: "account", id: randomUUID() };
  });

  /** Runs the fetcher once for some tasks. @returns the tasks that it sent again, and why others were given up */
  async function run(
    remote: { readonly baseUrl: string; readonly token: string },
    tasks: readonly Task[],
    {
      timeLeft = () => 60_000,
      claim = async () => undefined,
      permit = () => undefined,
      others = {},
    }: Circumstances = {},
  ) {
    const provider = { ...settings, paths, ...others };
    const kept = keptLog();
    entries = kept.entries;
    const overflow = overflowBucket(bucket.name);
    const sent: Task[] = [];
    const reasons: (string | undefined)[] = [];
    const call = providerApi(remote.baseUrl, provider, () => noon);
    const handler = fetcher({
      versionedRecords: versionedRecords(system.dynamodb, tableName),
      claimData: async () => {
        await claim();
        return async () => undefined;
      },
      storeContent: contentStore(system.dynamodb, tableName, overflow),
      keptPages: keptPages(overflow),
      longestRunInMillis: 1_000,
      call: async (apiCall) => {
        permit();
        return call(remote.token, apiCall);
      },
      gate: async () => undefined,
      send: async (url, messages: readonly Outgoing[]) => {
        if (url === "tasks") sent.push(...messages.map(({ body }) => readTaskText(body)));
        else reasons.push(...messages.map(({ reason }) => reason));
        return messages.map(() => undefined);
      },
      hide: async (_, messages) => messages.map(() => undefined),
      queueUrl: "tasks",
      deadLetterQueueUrl: "dead letters",
      provider,
      startEndpoints: [],
      readAfterSeconds: 3_600,
      retrying: {
        retry: { baseSeconds: 100, maxSeconds: 400 },
        longestOutageHours: 72,
        maxReceiveCount: 5,
      },
      now: () => noon,
      random: () => 1,
      log: kept.log,
    });
    const messages = tasks.map((task, index) => ({ MessageId: `m${index}`, Body: writeTask(task) }));
    const event: SQSEvent = sqsEvent(messages, { firstReceivedAt: noon });
    await handler(event, { ...context, getRemainingTimeInMillis: timeLeft });
    return { sent, reasons };
  }

  const want = (wanted = 1, of: Subject = subject) =>
    versionedRecords(system.dynamodb, tableName).document(of, income, (known) => ({
      subject: of,
      ...income,
      version: (known?.version ?? 0) + 1,
      wanted,
      done: 0,
      judged: [],
      latest: { cause: "again" },
    }));
  const doneOf = async () =>
    (await versionedRecords(system.dynamodb, tableName).loadDocument(subject, income))?.done;
  const stored = async (of: Subject = subject) => {
    const content = await contentReader(system.dynamodb, tableName, overflowBucket(bucket.name))(of, income);
    return content && Buffer.concat(content.parts).toString();
  };

  /** A sandbox with one account whose income is there: eight items. */
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
    await sandbox.settled();
    subject = { kind: "account", id };
    await want();
    return sandbox;
  }

  const wholeOf = (sandbox: Sandbox) => ({ ...Object(sandbox.data(subject.id, "income")), next: null });

  /** A provider that answers as a test says; what it was asked for is reported by path and query. */
  async function providerFor(answer: (path: string, count: number) => ProviderAnswer) {
    const provider = await startTestProvider();
    onTestFinished(provider.close);
    provider.answer = ({ path }, count) => answer(path, count);
    await want();
    return { baseUrl: provider.url, token: "jwt", requests: provider.requests };
  }

  return {
    get system() {
      return system;
    },
    get bucket() {
      return bucket;
    },
    get entries() {
      return entries;
    },
    get subject() {
      return subject;
    },
    run,
    want,
    doneOf,
    stored,
    sandboxFor,
    wholeOf,
    providerFor,
  };
}
