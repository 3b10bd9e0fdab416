import { randomUUID } from "node:crypto";
import { DeleteMessageCommand } from "@aws-sdk/client-sqs";
import { type Sandbox, startSandbox } from "@income-events/sandbox/server.ts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { documentReader } from "../../../adapters/dynamodb/documents.ts";
import { linkTable, partitions } from "../../../adapters/dynamodb/event-table.ts";
import { orphans } from "../../../adapters/dynamodb/orphans.ts";
import {
  type ReadinessRecords,
  readinessRecords,
  type VersionedRecords,
  versionedRecords,
} from "../../../adapters/dynamodb/versioned-records.ts";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { GuardedApi, ProviderClient } from "../../../adapters/provider/provider-client.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { checkpoint, runRequests } from "../../../adapters/streams/checkpoint.ts";
import { waiting } from "../../../domain/core/failures.ts";
import { type Envelope, readEnvelope } from "../../../domain/event/envelope.ts";
import type { EventType } from "../../../domain/event/events.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { parseProviderSettings } from "../../../domain/fetch/provider-settings.ts";
import { type FetchTask, readTask } from "../../../domain/fetch/task.ts";
import { parseTokenSecret } from "../../../domain/fetch/token.ts";
import type { ReceivingCounts } from "../../../domain/reconcile/missed.ts";
import { parseReconcileSettings } from "../../../domain/reconcile/reconcile-settings.ts";
import { applyEvent } from "../../../domain/state/state.ts";
import type { ReconcilerDependencies } from "../../../functions/reconcile/dependencies.ts";
import { providerLists } from "../../../functions/reconcile/provider-lists.ts";
import { reconciler } from "../../../functions/reconcile/reconciler.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";
import { startTestSystem, type TestSystem, type TestTable } from "../../support/engines.ts";
import { unlimited } from "../../support/provider-limits.ts";
import { startTestProvider, type TestProvider } from "../../support/test-provider.ts";
import { noRefusals } from "../../support/tokens.ts";
import { keptLog, type LogEntry } from "./lambda.ts";
import { savedDocuments } from "./saved-documents.ts";

export const hour = 3_600_000;

export const day = 24 * hour;

export const accountsPath = "/api/v0.4/users/{user_id}/accounts";

const stage = (provider: object, reconcile: object) =>
  parseSettings({ production: false, provider, reconcile }, "f.json");

type Stage = {
  readonly provider?: object;
  readonly graceMinutes?: number;
  /** JMESPath on an account. */
  readonly updatedAt?: string;
  readonly receivingCounts?: () => Promise<ReceivingCounts>;
  readonly maxDeletions?: { readonly percent: number; readonly atLeast: number };
  readonly baseUrl?: string;
  readonly ids?: "any";
  readonly permit?: () => Promise<undefined>;
  readonly longestCallInMillis?: number;
  /** The setting `readiness.staleDays`. */
  readonly staleDays?: number;
};

/** Permits for this many calls, after which the rate is used up; the count can be set anew. */
export function permits(count: number) {
  const made = {
    left: count,
    permit: async (): Promise<undefined> => {
      made.left -= 1;
      if (made.left < 0) throw waiting("the provider's rate is used up", 1);
    },
  };
  return made;
}

export const factsOf = (envelopes: readonly Envelope[]) =>
  envelopes.map(({ kind, body }) => ({ kind, facts: body.type === "facts" ? body.facts : body.type }));

export const missingUsers = (ids: readonly string[]) =>
  ids.map((userId) => ({ kind: "users", facts: { type: "user.created", userId } }));

export const missingAccounts = (ids: readonly string[]) =>
  ids.map((accountId) => ({
    kind: "accounts",
    facts: expect.objectContaining({ type: "account.created", accountId, connected: true }),
  }));

/** Fixture of the reconciler's tests, new for each: a sandbox, the records, the queues, the reconciler. */
export function reconcilerFixture(tables: string) {
  const made = {} as {
    system: TestSystem;
    sandbox: Sandbox;
    table: TestTable;
    known: VersionedRecords;
    readiness: ReadinessRecords;
    queueUrls: ReconcilerDependencies["queueUrls"];
    token: string;
    entries: LogEntry[];
    time: number;
    /** The receivers' metrics. */
    received: ReceivingCounts;
  };

  beforeAll(async () => {
    made.system = await startTestSystem(tables);
  });
  afterAll(() => made.system.close());

  beforeEach(async () => {
    const [users, accounts, companies, fetch] = await Promise.all([
      made.system.createQueue(),
      made.system.createQueue(),
      made.system.createQueue(),
      made.system.createQueue({ FifoQueue: "true" }),
    ]);
    made.queueUrls = { users, accounts, "company-accounts": companies, fetch };
    [made.table, made.sandbox] = await Promise.all([made.system.createTable(), startSandbox()]);
    made.known = versionedRecords(made.system.dynamodb, made.table.name);
    made.readiness = readinessRecords(
      batchingReader(made.system.dynamodb, made.table.name),
      batchingWriter(made.system.dynamodb, made.table.name),
    );
    made.token = made.system.createSecret({ token: made.sandbox.token });
    made.entries = [];
    made.received = { unanswered: new Map(), accepted: new Map() };
    // Later than everything that is created here.
    made.time = Date.now() + hour;
    return () => made.sandbox.close();
  });

  /** One environment of the function, with its own token and permits. */
  function tickOf({
    provider: given = {},
    graceMinutes = 0,
    updatedAt,
    receivingCounts = async () => made.received,
    maxDeletions = { percent: 0, atLeast: 20 },
    baseUrl = made.sandbox.baseUrl,
    ids,
    permit = unlimited.permit,
    longestCallInMillis = 0,
    staleDays,
  }: Stage = {}) {
    const paths = { userAccounts: accountsPath };
    const settings = stage(
      { allowPrivateAddresses: true, paths, ...given },
      {
        graceMinutes,
        maxDeletions,
        ...(updatedAt === undefined ? {} : { accounts: { updatedAt } }),
      },
    );
    const provider = parseProviderSettings(settings.provider);
    const reconcile = parseReconcileSettings(settings.reconcile, { users: ids, accounts: ids });
    const now = () => new Date(made.time);
    const reader = secretReader(made.system.secretsManager, made.token, parseTokenSecret, { now });
    const api = new ProviderApi(baseUrl, provider, now);
    const client = new ProviderClient(
      new GuardedApi({ api, limiter: { ...unlimited, permit }, patienceInSeconds: 0, now: () => new Date() }),
      reader,
      { ...noRefusals, report: async () => undefined },
    );
    const kept = keptLog();
    const tick = reconciler({
      lists: providerLists(client, provider, reconcile),
      search: jmespathSearch,
      checkpoint: checkpoint(made.system.dynamodb, made.table.name),
      requests: runRequests(made.system.dynamodb, made.table.name),
      versionedRecords: made.known,
      partitions: partitions(made.system.dynamodb, made.table.name),
      orphans: orphans(made.system.dynamodb, made.table.name),
      readDocuments: documentReader(made.system.dynamodb, made.table.name),
      readiness:
        staleDays === undefined ? undefined : { records: made.readiness, staleMillis: staleDays * day },
      send: sqsSender(made.system.sqs),
      queueUrls: made.queueUrls,
      provider,
      settings: reconcile,
      startEndpoints: ["profile", "income"],
      receivingCounts,
      longestCallInMillis,
      now,
      log: (...entry) => {
        kept.log(...entry);
        made.entries.push(...kept.entries.splice(0));
      },
    });
    return (remaining = 60_000, event: object = {}) =>
      tick(event, { getRemainingTimeInMillis: () => remaining });
  }

  /** A scripted provider in place of the sandbox. */
  async function scripted(answer: TestProvider["answer"]): Promise<TestProvider> {
    const remote = await startTestProvider();
    onTestFinished(remote.close);
    remote.answer = answer;
    return remote;
  }

  const codes = () => made.entries.map(({ code }) => code);
  const calls = (path = /./) => made.sandbox.calls().filter((call) => path.test(call.path));
  const fed = async (): Promise<readonly Envelope[]> => {
    const { fetch: _, ...queues } = made.queueUrls;
    const messages = await Promise.all(Object.values(queues).map((url) => made.system.drain(url)));
    return messages.flat().map(({ Body = "" }) => readEnvelope(Body));
  };

  /** Stores a user or account by an event, as the relay does. */
  async function learn(subject: Subject, type: EventType, userId?: string) {
    const fields = { user: "userId", account: "accountId", "company-account": "companyAccountId" } as const;
    const event = { id: randomUUID(), kind: "users" as const, receivedAt: "2026-01-01T00:00:00.000Z", type };
    const owned = { ...event, ...(userId === undefined ? {} : { userId }) };
    await made.known.reviseState(subject, (state) =>
      applyEvent(state, { ...owned, [fields[subject.kind]]: subject.id }, 1),
    );
    if (subject.kind === "account" && userId !== undefined) {
      await linkTable(batchingWriter(made.system.dynamodb, made.table.name))(userId, subject.id);
    }
  }
  async function learnAll({ users, accounts }: { users: readonly string[]; accounts: readonly string[] }) {
    for (const id of users) await learn({ kind: "user", id }, "user.created");
    for (const [index, id] of accounts.entries()) {
      await learn({ kind: "account", id }, "account.connected", users[index]);
    }
  }

  /** Stores a document as a call at a time left it, without data unless there is some. */
  async function readAt(subject: Subject, endpoint: string, asOf: number, text?: string) {
    await savedDocuments(made.system, made.table, { name: "none" }).save(subject, text, {
      asOf,
      name: { endpoint },
    });
  }

  /** Takes the tasks out of the fetch queue, so that the next tasks of their documents can be received. */
  async function tasks(): Promise<readonly FetchTask[]> {
    const QueueUrl = made.queueUrls.fetch;
    const messages = await made.system.drain(QueueUrl);
    for (const { ReceiptHandle } of messages)
      await made.system.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    return messages.map(({ Body = "" }) => readTask(Body));
  }

  return Object.assign(made, {
    tickOf,
    scripted,
    codes,
    calls,
    fed,
    learn,
    learnAll,
    readAt,
    tasks,
  });
}
