import type { SQSBatchResponse } from "aws-lambda";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { writeChange } from "../../adapters/aws/relay-invoker.ts";
import { receiptRecorder } from "../../adapters/dynamodb/event-table.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import type { KindMapping } from "../../domain/event/mapping.ts";
import { credentialFields, defaultCredentialFields } from "../../domain/event/payload.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { deadlineKeeper } from "../../functions/readiness/deadline-keeper.ts";
import { receiver } from "../../functions/receive/receiver.ts";
import { announceStale } from "../../functions/reconcile/reconcile-users.ts";
import { refresher } from "../../functions/refresh/refresher.ts";
import { relay } from "../../functions/relay/relay.ts";
import { publisher } from "../../functions/runtime/subscriber-queues.ts";
import { consumer } from "../../functions/store/consumer.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { context, httpEvent } from "../support/invocations.ts";
import {
  callOf,
  readinessRecordsOf,
  sender,
  tableRequests,
  versionedRecordsOf,
  visibilityOf,
} from "./ports.ts";
import type { Do, Process } from "./processes.ts";
import { readLifetime, type Webhook } from "./provider.ts";
import { type Message, recordsOf } from "./queue.ts";
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
    record: receiptRecorder(
      {
        write: (write) => step("writes a receipt", () => simulation.table.writeEvent(write)),
        read: (key) => step("looks for an event", () => simulation.table.readEvent(key)),
      },
      30,
    ),
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
  const subscribers = simulation.subscribers.map((name) => ({
    name,
    queueUrl: name,
    deadLetterQueueUrl: `${name} dead`,
  }));
  const handler = relay({
    versionedRecords: versionedRecordsOf(simulation, step),
    attributes: Object.keys(attributes).length === 0 ? undefined : { asks: true },
    readiness: readiness && {
      records: readinessRecordsOf(simulation, request),
      partitions: { accountsOf: (userId) => request("reads links", () => table.accountsOf(userId)) },
      settings: readiness,
      clock,
    },
    link: (user, account) => step("links", () => void table.links.add(`${user} ${account}`)),
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
    loadState: versionedRecordsOf(simulation, request).loadState,
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
