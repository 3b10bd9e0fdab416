import type { SQSBatchResponse } from "aws-lambda";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { writeChange } from "../../adapters/aws/relay-invoker.ts";
import type { WriteItem } from "../../adapters/dynamodb/batching.ts";
import { type DocumentStore, documentStore } from "../../adapters/dynamodb/documents.ts";
import { linkTable, receiptRecorder } from "../../adapters/dynamodb/event-table.ts";
import { sharedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { ProviderApi } from "../../adapters/provider/provider-api.ts";
import { ProviderClient } from "../../adapters/provider/provider-client.ts";
import { TokenRefusals } from "../../adapters/provider/token-refusals.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";
import { credentialFields, defaultCredentialFields } from "../../domain/event/payload.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { giveUpLimits } from "../../domain/fetch/task.ts";
import { fetcher } from "../../functions/fetch/fetcher.ts";
import type { KeptPages, PagesOf } from "../../functions/fetch/read-pages.ts";
import { deadlineKeeper } from "../../functions/readiness/deadline-keeper.ts";
import { receiver } from "../../functions/receive/receiver.ts";
import { announceStale } from "../../functions/reconcile/reconcile-users.ts";
import { refresher } from "../../functions/refresh/refresher.ts";
import { relay } from "../../functions/relay/relay.ts";
import { publisher } from "../../functions/runtime/subscriber-queues.ts";
import { consumer } from "../../functions/store/consumer.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { redrive, taskOrder } from "../../packages/cli/dead-letters/redrive.ts";
import { context, httpEvent } from "../support/invocations.ts";
import { callOf, itemsOf, readinessRecordsOf, sender, tableRequests, visibilityOf } from "./ports.ts";
import type { Do, Process } from "./processes.ts";
import { endpoint, readLifetime, type Webhook } from "./provider.ts";
import { type Message, type Queue, recordsOf } from "./queue.ts";
import type { ReadsOfProcess } from "./reads.ts";
import type { Surroundings } from "./surroundings.ts";

const noObjects = {
  put: () => Promise.reject(retryable("no object is large here")),
  get: () => Promise.reject(retryable("no object is large here")),
  find: async () => undefined,
  size: () => Promise.reject(retryable("no object is large here")),
};
const secretHeader = "x-webhook-secret";
const secret = "the webhook's secret";

/**
 * Receives one webhook.
 * @returns the status of the answer
 */
export async function receive(simulation: Surroundings, step: Do, { kind, body }: Webhook): Promise<number> {
  const handler = receiver(kind, {
    send: sender(simulation, step),
    overflow: noObjects,
    queueUrl: kind,
    deadLetterQueueUrl: `${kind} dead`,
    secretHeader: { name: secretHeader },
    answersProbes: false,
    requestReconciliation: async () => undefined,
    mappedHeaders: [],
    credentials: credentialFields(defaultCredentialFields),
    maxBodyBytes: 10_000,
    isAllowedSource: () => true,
    readSecret: async () => ({ current: secret }),
    now: simulation.now,
    log: simulation.kept.log,
  });
  const { statusCode = 0 } = await handler(httpEvent({ headers: { [secretHeader]: secret }, body }), context);
  return statusCode;
}

/** Stores a batch of one kind's queue. */
export function store(
  simulation: Surroundings,
  step: Do,
  kind: WebhookKind,
  messages: readonly Message[],
): Promise<SQSBatchResponse> {
  const handler = consumer({
    record: receiptRecorder(itemsOf(simulation, step), 30),
    recordCanary: async () => undefined,
    overflow: noObjects,
    send: sender(simulation, step),
    deadLetterQueueUrl: `${kind} dead`,
    mapping: mappingOf(kind, simulation),
    search: jmespathSearch,
    log: simulation.kept.log,
  });
  return handler({ Records: recordsOf(kind, messages) }, context);
}

function mappingOf(kind: WebhookKind, { accountsMapping, attributes }: Surroundings): KindMapping {
  if (kind === "accounts") return accountsMapping;
  return kind === "users" ? { ...defaultMapping.users, time: "time", attributes } : defaultMapping[kind];
}

/**
 * Relays a batch of the stream.
 * @returns the number of records that are done
 */
export async function relayBatch(
  simulation: Surroundings,
  step: Do,
  from: number,
  most: number,
): Promise<number> {
  const { table, readiness, attributes } = simulation;
  const changes = table.stream.slice(from, from + most);
  const send = sender(simulation, step);
  const { request, clock } = tableRequests(simulation, step);
  const items = itemsOf(simulation, step);
  const subscribers = simulation.subscribers.map((name) => ({
    name,
    queueUrl: name,
    deadLetterQueueUrl: `${name} dead`,
  }));
  const handler = relay({
    versionedRecords: sharedRecords(items),
    attributes: Object.keys(attributes).length === 0 ? undefined : { asks: true },
    readiness: readiness && {
      records: readinessRecordsOf(simulation, request),
      partitions: { accountsOf: (userId) => request("reads links", () => table.accountsOf(userId)) },
      settings: readiness,
      clock,
    },
    link: linkTable(items.write),
    findErased: () => step("reads tombstones", () => new Set<string>()),
    removeSuperseded: () => Promise.reject(new Error("nothing expires here")),
    send,
    queues: { fetch: "fetch", erase: "erase", deadlines: "deadlines" },
    publish: publisher(send, subscribers, simulation.kept.log),
    settings: { source: "urn:model", readByRange: [], documentsUrl: "https://reads.example/", readiness },
    marks: { add: async () => 0, clear: async () => undefined },
    park: () => Promise.reject(new Error("nothing is parked here")),
    now: () => new Date(),
    erasesOnDeletion: false,
    log: simulation.kept.log,
  });
  const records = changes.map((change, index) => writeChange(change, String(from + index)));
  // Through JSON, as Lambda delivers it.
  const { batchItemFailures } = await handler({ Records: JSON.parse(JSON.stringify(records)) });
  const [first] = batchItemFailures;
  return first === undefined ? changes.length : Number(first.itemIdentifier) - from;
}

/** Checks deadlines of accounts. */
export function checkDeadlines(
  simulation: Surroundings,
  step: Do,
  messages: readonly Message[],
): Promise<SQSBatchResponse> {
  const { request, clock } = tableRequests(simulation, step);
  const handler = deadlineKeeper({
    records: readinessRecordsOf(simulation, request),
    loadState: sharedRecords(itemsOf(simulation, request)).loadState,
    clock,
    changeVisibility: visibilityOf(simulation, step),
    send: sender(simulation, step),
    queue: { url: "deadlines", deadLetterUrl: "deadlines dead" },
    log: simulation.kept.log,
  });
  return handler({ Records: recordsOf("deadlines", messages) });
}

/** In milliseconds: the setting `readiness.staleDays`, of less than a day. */
export const staleMillis = 18_000_000;

/** Looks for accounts without new data, as a reconciliation does. */
export async function findStale(
  simulation: Surroundings,
  { do: step, clockError }: Process,
  accounts: readonly Subject[],
): Promise<void> {
  const readiness = { records: readinessRecordsOf(simulation, step), staleMillis };
  const now = () => new Date(simulation.time + clockError);
  for (const account of accounts) {
    const stored = await step("reads all documents", () => simulation.table.loadDocuments(account));
    await announceStale(
      account,
      stored.map(({ document }) => document),
      { readiness, now },
    );
  }
}

/** Runs the refresher once. */
export async function refreshToken(simulation: Surroundings, step: Do): Promise<void> {
  const { table } = simulation;
  const run = refresher({
    secret: simulation.secret.portOf(step),
    refusals: {
      read: () => step("reads which token is refused", () => table.refusedVersion?.id),
      claimRefresh: () => step("claims the refresh", () => true),
      conclude: (id, isEnded) => step("concludes", () => table.concludeRefusal(id, isEnded)),
    },
    api: callOf(simulation, step),
    readLifetime,
    refreshPath: "/refresh",
    proofPath: "/users",
    refresh: { marginFraction: 0.5, refreshEveryMinutes: 15 },
    now: simulation.now,
    log: simulation.kept.log,
  });
  await run();
}

/** Maximum lifetime of a process of the fetch function, in milliseconds. */
export const fetchLifetime = 60_000;

/** Processes a batch of a queue of tasks. */
export function fetchBatch(
  simulation: Surroundings,
  { do: step, clockError }: Process,
  queue: "fetch" | "checks",
  messages: readonly Message[],
): Promise<SQSBatchResponse> {
  const { table, readiness, attributes } = simulation;
  const now = () => new Date(simulation.time + clockError);
  const { request, clock } = tableRequests(simulation, step);
  const reads = simulation.reads.watch(messages, () => simulation.time);
  const note = (id: string) => request("notes a refused token", () => table.noteRefusal(id));
  const refusals = new TokenRefusals({ note }, async () => simulation.refresh(), now);
  const api = { ...watchedCall(simulation, step, reads), ...ready };
  const client = new ProviderClient(api, simulation.tokenReaderOf(step), refusals);
  const handler = fetcher({
    versionedRecords: sharedRecords(itemsOf(simulation, request)),
    documents: documentsOf(simulation, request, reads),
    readDocuments: (subject) => request("reads all documents", () => table.loadDocuments(subject)),
    findErased: () => request("reads tombstones", () => new Set<string>()),
    keptPages: keptPagesOf(simulation, step, reads),
    client: {
      call: (apiCall) => client.call(apiCall),
      ...ready,
    },
    send: sender(simulation, step),
    changeVisibility: visibilityOf(simulation, step),
    queues: {
      fetch: { url: "fetch", deadLetterUrl: "fetch dead" },
      checks: { url: "queues/checks", deadLetterUrl: "queues/checks dead" },
    },
    provider,
    attributes,
    startEndpoints: readiness?.endpoints ?? [endpoint],
    readiness: readiness && { ...readiness, ...readinessRecordsOf(simulation, request) },
    reservedInMillis: 1_000,
    readAfterSeconds: 300,
    retrying: {
      retry: { baseSeconds: 2, maxSeconds: 900 },
      limits: giveUpLimits(14 * 86_400),
      longestOutageSeconds: 72 * 3_600,
    },
    clock,
    now,
    random: () => 0.5,
    log: simulation.kept.log,
  });
  return handler({ Records: recordsOf(queue, messages) }, context);
}

/** Small data is stored in the item, here uncompressed: a step must not depend on another thread. */
function documentsOf({ table }: Surroundings, request: Do, reads: ReadsOfProcess): DocumentStore {
  return {
    load: (subject, name) =>
      request("reads DOCUMENT", () => {
        if (name.endpoint === endpoint) reads.load(nameOf(subject));
        return table.loadDocument(subject, name);
      }),
    save: (stored, updated, content) => {
      const write: WriteItem = (each) =>
        request("writes DOCUMENT", () => {
          const outcome = table.write(each);
          if (outcome === "written" && updated.endpoint === endpoint) reads.write(nameOf(updated.subject));
          return outcome;
        });
      const storage = content && { codec: "identity", content: Buffer.concat(content.parts) };
      const { save } = documentStore(async (key) => table.read(key), write, noObjects);
      return save(stored, { ...updated, ...storage }, undefined);
    },
  };
}

function keptPagesOf({ pages }: Surroundings, step: Do, reads: ReadsOfProcess): KeptPages {
  const keyOf = ({ subject, messageId }: PagesOf) => `${nameOf(subject)} ${messageId}`;
  return {
    keep: (of, list) =>
      step("keeps pages", () => {
        if (of.endpoint === endpoint) reads.keep(nameOf(of.subject));
        pages.set(keyOf(of), list);
      }),
    forget: (of) => step("forgets pages", () => void pages.delete(keyOf(of))),
    find: (of) => step("looks for pages", () => pages.get(keyOf(of))),
  };
}

/** Records a read of a document when its request arrives. */
function watchedCall(simulation: Surroundings, step: Do, reads: ReadsOfProcess): Pick<ProviderApi, "send"> {
  return callOf(simulation, step, ({ path, serviceTime = 0 }) => {
    // An older one would let a frozen environment use calls that it reserved long ago.
    if (simulation.time - serviceTime > 2 * fetchLifetime)
      reads.violation("a call's time is of its invocation");
    const [, id = "", name = ""] = path.split("/");
    if (name.startsWith(endpoint)) reads.call(nameOf({ kind: "account", id }), name === endpoint);
  });
}

/** The provider is up, and no state is read ahead. */
const ready = { gate: () => undefined, prepare: async () => undefined };

const provider = {
  paths: {
    start: { method: "POST", path: "/{account_id}/start" },
    read: "/{account_id}/{endpoint}",
    readCompany: "/{account_id}/{endpoint}",
    account: "/{account_id}",
    companyAccount: "/{account_id}",
    user: "/users/{user_id}",
    users: "/users",
    refresh: "/refresh",
  },
  requestsPerMinute: 1_000,
  breaker: { failures: 5, baseSeconds: 1, maxSeconds: 5 },
  timeouts: { connectSeconds: 1, headersSeconds: 1, bodySeconds: 1 },
  maxResponseBytes: 1_000,
  maxDataBytes: 1_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 5 },
  allowPrivateAddresses: true,
} as const;

/** Redrives dead letters as the command does. */
export async function redriveDeadLetters(
  simulation: Surroundings,
  step: Do,
  { name, queue, isWanted }: { name: string; queue: Queue; isWanted: (deadLetter: Message) => boolean },
): Promise<void> {
  const letters = queue.deadLetters.filter(isWanted);
  await redrive({
    source: async (look) => {
      const { done } = await look(
        letters.map(({ id, sentAt, ...letter }) => ({ ...letter, messageId: id, sentAt: new Date(sentAt) })),
      );
      const taken = new Set(done.map(({ messageId }) => messageId));
      await step("takes dead letters away", () => {
        queue.deadLetters = queue.deadLetters.filter(({ id }) => !taken.has(id));
      });
      return { notRemoved: 0, mayHaveMore: false };
    },
    isWanted: () => true,
    send: sender(simulation, step),
    queueUrl: name,
    orderOf: name === "fetch" ? taskOrder : () => ({}),
    run: "run",
    limit: Number.POSITIVE_INFINITY,
    onProgress: () => undefined,
  });
}
