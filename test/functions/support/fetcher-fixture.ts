import { randomUUID } from "node:crypto";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { startTestProvider, type TestProvider } from "@income-events/local-stack/provider.ts";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { dataClaims } from "../../../adapters/dynamodb/claims.ts";
import { contentStore } from "../../../adapters/dynamodb/document-store.ts";
import { type VersionedRecords, versionedRecords } from "../../../adapters/dynamodb/versioned-records.ts";
import { guardedCall } from "../../../adapters/provider/guarded-call.ts";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import { rateLimiter } from "../../../adapters/provider/rate-limiter.ts";
import { refusalNote } from "../../../adapters/provider/refusal-note.ts";
import { sharedBreaker } from "../../../adapters/provider/shared-breaker.ts";
import { withToken } from "../../../adapters/provider/with-token.ts";
import { keptPages } from "../../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { tokenRefusals } from "../../../adapters/secrets/token-refusals.ts";
import { parseTokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { messageVisibility } from "../../../adapters/sqs/message-visibility.ts";
import { type Outgoing, sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { DocumentRecord } from "../../../domain/fetch/document.ts";
import type { ProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { readTaskText, type Task, writeTask } from "../../../domain/fetch/tasks.ts";
import type { State } from "../../../domain/state/state.ts";
import type { FetcherDependencies } from "../../../functions/fetch/dependencies.ts";
import { fetcher } from "../../../functions/fetch/fetcher.ts";
import type { RetryDecisionSettings } from "../../../functions/fetch/retry-decision.ts";
import { startTestSystem, type TestBucket, type TestSystem, type TestTable } from "../../support/engines.ts";
import { deliver, keptLog, type LogEntry, type Receives } from "./lambda.ts";

export const claimLifetime = 60;

export const readAfterSeconds = 3_600;

export const noon = new Date("2026-11-21T12:00:30Z");

const patient: RetryDecisionSettings = {
  retry: { baseSeconds: 200, maxSeconds: 900 },
  longestOutageHours: 72,
  maxReceiveCount: 5,
};

export const provider: ProviderSettings = {
  paths: {
    read: "/accounts/{account_id}/{endpoint}",
    readCompany: "/company/{account_id}/{endpoint}",
    account: "/accounts/{account_id}",
    companyAccount: "/company/{account_id}",
    user: "/users/{user_id}",
    users: "/users",
    refresh: "/refresh",
  },
  requestsPerMinute: 1_000,
  breaker: { failures: 100, baseSeconds: 10, maxSeconds: 300 },
  timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 1_000_000,
  maxDataBytes: 2_000_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 10 },
  allowPrivateAddresses: true,
};

export const started: ProviderSettings = {
  ...provider,
  paths: {
    ...provider.paths,
    start: { method: "POST", path: "/accounts/{account_id}/fetches", body: { endpoints: "{endpoints}" } },
  },
};

async function reach(version: number, write: (version: number) => Promise<void>): Promise<void> {
  for (let next = 1; next <= version; next += 1) await write(next);
}

/** What the fetcher's tests share, made again for each: the provider, the records, the queues, the fetcher itself. */
export function fetcherFixture(tables: string) {
  let system: TestSystem;
  let remote: TestProvider;
  let table: TestTable;
  let bucket: TestBucket;
  let known: VersionedRecords;
  let queueUrl: string;
  let deadLetterQueueUrl: string;
  let token: string;
  let refreshesAsked: number;
  let entries: LogEntry[];
  let sent: Outgoing[];
  let clock: Date;
  let subject: Subject;
  let retrying: RetryDecisionSettings;

  beforeAll(async () => {
    [system, remote] = await Promise.all([startTestSystem(tables), startTestProvider()]);
    bucket = await system.createBucket();
  });
  afterAll(() => Promise.all([system.close(), remote.close()]));

  beforeEach(async () => {
    [table, queueUrl, deadLetterQueueUrl] = await Promise.all([
      system.createTable(),
      system.createQueue(),
      system.createQueue(),
    ]);
    known = versionedRecords(system.dynamodb, table.name);
    token = system.createSecret({ token: "jwt" });
    refreshesAsked = 0;
    subject = { kind: "account", id: randomUUID() };
    sent = [];
    clock = noon;
    retrying = patient;
    remote.requests.length = 0;
    remote.answer = () => 500;
  });

  const askRefresh = async () => {
    refreshesAsked += 1;
  };

  /** One environment of the function: its token and its lot of calls are its own. */
  function fetcherOf(settings: ProviderSettings = provider, others: Partial<FetcherDependencies> = {}) {
    const kept = keptLog();
    entries = kept.entries;
    const now = () => clock;
    const reader = secretReader(system.secretsManager, token, parseTokenSecret, { now });
    const refusals = tokenRefusals(refusalNote(system.dynamodb, table.name), askRefresh, now);
    const breaker = sharedBreaker(system.dynamodb, table.name, {
      settings: settings.breaker,
      longestCallInSeconds: 11,
      now,
      random: () => 0.5,
      onStateChange: () => undefined,
    });
    const window = rateLimiter(system.dynamodb, table.name, settings.requestsPerMinute, { now });
    const overflow = overflowBucket(bucket.name);
    return fetcher({
      versionedRecords: known,
      claimData: dataClaims(system.dynamodb, table.name, claimLifetime, now),
      storeContent: contentStore(system.dynamodb, table.name, overflow),
      keptPages: keptPages(overflow),
      longestRunInMillis: 1_000,
      call: withToken(
        guardedCall(providerApi(remote.url, settings, now), breaker.admit, window.permit),
        reader,
        refusals,
      ),
      gate: breaker.gate,
      send: (url, messages) => {
        if (url === queueUrl) sent.push(...messages);
        return sqsSender(system.sqs)(url, messages);
      },
      queueUrl,
      deadLetterQueueUrl,
      provider: settings,
      startEndpoints: ["income", "profile"],
      hide: messageVisibility(system.sqs),
      readAfterSeconds,
      retrying,
      now,
      random: () => 0.5,
      log: kept.log,
      ...others,
    });
  }

  async function perform(
    task: Task | string,
    settings = provider,
    receives: Receives = {},
  ): Promise<readonly string[]> {
    await system.send(queueUrl, typeof task === "string" ? task : writeTask(task));
    return deliver(system, queueUrl, fetcherOf(settings), { firstReceivedAt: noon, ...receives });
  }

  const codes = () => entries.map(({ code }) => code);
  const hiddenUntilNow = async () => {
    const command = new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: ["ApproximateNumberOfMessagesNotVisible"],
    });
    const { Attributes } = await system.sqs.send(command);
    return Number(Attributes?.ApproximateNumberOfMessagesNotVisible);
  };
  const requests = () => ({
    sent: system.calls().get("test sqs:SendMessageBatch") ?? 0,
    hidden: system.calls().get("test sqs:ChangeMessageVisibilityBatch") ?? 0,
  });
  const calls = () => remote.requests.map(({ method, path }) => `${method} ${path}`);
  const deadLetters = async () =>
    (await system.drain(deadLetterQueueUrl)).map(({ Body, MessageAttributes }) => ({
      body: Body,
      reason: MessageAttributes?.reason?.StringValue,
    }));
  const want = (endpoint: string, facts: Partial<DocumentRecord> = {}) =>
    known.document(subject, { endpoint }, () => ({
      subject,
      endpoint,
      version: 1,
      wanted: 1,
      done: 0,
      judged: [],
      latest: { cause: "again" },
      ...facts,
    }));
  const put = (facts: Partial<State> = {}) =>
    // A state is written only over the version before it.
    reach(facts.version ?? 1, (version) =>
      known.state(subject, () => ({
        subject,
        deleted: false,
        unconfirmed: true,
        judged: [],
        latest: { cause: "again" },
        ...facts,
        version,
      })),
    );
  const content = (endpoint = "income") => table.item(`ACCOUNT#${subject.id}`, `CONTENT#${endpoint}`);

  /** What a task was sent again as; its queue does not show a message that is held back. */
  async function postponed(task: Task): Promise<readonly { task: Task; delay: number | undefined }[]> {
    await perform(task);
    return sent.map(({ body, delayInSeconds }) => ({ task: readTaskText(body), delay: delayInSeconds }));
  }

  return {
    get system() {
      return system;
    },
    get remote() {
      return remote;
    },
    get table() {
      return table;
    },
    get bucket() {
      return bucket;
    },
    get known() {
      return known;
    },
    get queueUrl() {
      return queueUrl;
    },
    get deadLetterQueueUrl() {
      return deadLetterQueueUrl;
    },
    get token() {
      return token;
    },
    set token(value) {
      token = value;
    },
    get refreshesAsked() {
      return refreshesAsked;
    },
    get entries() {
      return entries;
    },
    get sent() {
      return sent;
    },
    set sent(value) {
      sent = value;
    },
    get clock() {
      return clock;
    },
    set clock(value) {
      clock = value;
    },
    get subject() {
      return subject;
    },
    set subject(value) {
      subject = value;
    },
    get retrying() {
      return retrying;
    },
    set retrying(value) {
      retrying = value;
    },
    fetcherOf,
    perform,
    codes,
    hiddenUntilNow,
    requests,
    calls,
    deadLetters,
    want,
    put,
    content,
    postponed,
  };
}
