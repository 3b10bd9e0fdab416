import type { SQSBatchResponse } from "aws-lambda";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { receiptRecorder } from "../../adapters/dynamodb/event-table.ts";
import type { Revise, VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { CallWithToken } from "../../adapters/provider/provider-api.ts";
import { withToken } from "../../adapters/provider/with-token.ts";
import { tokenRefusals } from "../../adapters/secrets/token-refusals.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { writeChange } from "../../adapters/streams/change-stream.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import { credentialFields, defaultCredentialFields } from "../../domain/event/payload.ts";
import { giveUpLimits } from "../../domain/fetch/waiting.ts";
import { fetcher } from "../../functions/fetch/fetcher.ts";
import { receiver } from "../../functions/receive/receiver.ts";
import { refresher } from "../../functions/refresh/refresher.ts";
import { outbox } from "../../functions/relay/outbox.ts";
import { relay } from "../../functions/relay/relay.ts";
import { publisher } from "../../functions/runtime/subscriber-queues.ts";
import { consumer } from "../../functions/store/consumer.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { context, httpEvent } from "../support/invocations.ts";
import type { Do } from "./processes.ts";
import { endpoint, readLifetime, type Webhook } from "./provider.ts";
import { type Message, recordsOf } from "./queue.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Ahead } from "./table.ts";

/** A failed send, as the adapter says it. */
const unsent = { kind: "retryable", reason: "SQS: injected", delayInSeconds: 0 } as const;
const noObjects = {
  put: () => Promise.reject(retryable("no object is large here")),
  get: () => Promise.reject(retryable("no object is large here")),
  find: async () => undefined,
  size: () => Promise.reject(retryable("no object is large here")),
};
const secretHeader = "x-webhook-secret";
const secret = "the webhook's secret";
/** In seconds: how long a process of the fetch function can live. */
export const fetchLifetime = 60;

/**
 * A port to the queues of which each send is one step; where a fault strikes, every message is reported to have failed.
 */
function sender(simulation: Surroundings, step: Do): Send {
  return async (queueUrl, messages) => {
    if (messages.length === 0) return [];
    const send = () => {
      for (const message of messages) simulation.send(queueUrl, message);
    };
    try {
      await step(`sends to ${queueUrl}`, send);
      return messages.map(() => undefined);
    } catch {
      return messages.map(() => unsent);
    }
  };
}

function versionedRecordsOf(simulation: Surroundings, step: Do): VersionedRecords {
  const { table } = simulation;
  const revising = (ahead: Ahead): Revise => ({
    state: (subject, change, known) => table.reviseState(step, subject, change, { ahead, known }),
  });
  return {
    // What can't be read ahead is read in its turn.
    readAhead: (names) =>
      step("reads records", () => table.readAhead(names)).then(revising, () => revising(table.readAhead([]))),
    ...revising(table.readAhead([])),
    loadState: (subject) => step("reads a state", () => table.loadState(subject)),
  };
}

/** Receives one webhook. @returns the status of the answer */
export async function receive(simulation: Surroundings, step: Do, { kind, body }: Webhook): Promise<number> {
  const handler = receiver(kind, {
    send: sender(simulation, step),
    overflow: noObjects,
    queueUrl: kind,
    deadLetterQueueUrl: `${kind} dead`,
    secretHeader,
    mappedHeaders: [],
    credentials: credentialFields(defaultCredentialFields),
    maxBodyBytes: 10_000,
    isAllowedSource: () => true,
    readSecret: async () => ({ current: secret }),
    now: simulation.now,
    log: simulation.log,
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
        look: (key) => step("looks for an event", () => simulation.table.readEvent(key)),
        lookAgain: (key) => step("looks for an event again", () => simulation.table.readEvent(key)),
      },
      30,
    ),
    overflow: noObjects,
    send: sender(simulation, step),
    deadLetterQueueUrl: `${kind} dead`,
    mapping: kind === "accounts" ? simulation.accountsMapping : defaultMapping[kind],
    search: jmespathSearch,
    log: simulation.log,
  });
  return handler({ Records: messages.flatMap((message) => recordsOf(message, simulation.dateOf)) }, context);
}

/** Relays a batch of the stream. @returns how many of its records are done */
export async function relayBatch(
  simulation: Surroundings,
  step: Do,
  from: number,
  most: number,
): Promise<number> {
  const changes = simulation.table.stream.slice(from, from + most);
  const send = sender(simulation, step);
  const subscribers = simulation.subscribers.map((name) => ({
    name,
    queueUrl: name,
    deadLetterQueueUrl: `${name} dead`,
  }));
  const handler = relay({
    versionedRecords: versionedRecordsOf(simulation, step),
    link: (user, account) => step("links", () => void simulation.table.links.add(`${user} ${account}`)),
    findErased: () => step("reads tombstones", () => new Set<string>()),
    removeSuperseded: () => Promise.reject(new Error("nothing expires here")),
    outbox: outbox(send, { fetch: "fetch", erase: "erase" }, publisher(send, subscribers, simulation.log)),
    settings: { source: "urn:model", readByRange: [], documentsUrl: "https://reads.example/" },
    erasesOnDeletion: false,
    log: simulation.log,
  });
  const records = changes.map((change, index) => writeChange(change, String(from + index)));
  // By way of JSON, as Lambda hands it over.
  const { batchItemFailures } = await handler({ Records: JSON.parse(JSON.stringify(records)) });
  const [first] = batchItemFailures;
  return first === undefined ? changes.length : Number(first.itemIdentifier) - from;
}

function callOf(simulation: Surroundings, step: Do): CallWithToken {
  return async (token, call) => {
    // Its request is under way, then its answer is.
    const answer = await step(`calls ${call.method} ${call.path}`, () =>
      simulation.provider.answer(token, call),
    );
    return step("has its answer", () => answer);
  };
}

/** Does a batch of a queue of tasks. */
export function fetchBatch(
  simulation: Surroundings,
  step: Do,
  queue: "fetch" | "checks",
  messages: readonly Message[],
): Promise<SQSBatchResponse> {
  const { table } = simulation;
  const note = (id: string) => step("notes a refused token", () => table.noteRefusal(id));
  const refusals = tokenRefusals({ note }, async () => simulation.refresh(), simulation.now);
  const handler = fetcher({
    versionedRecords: versionedRecordsOf(simulation, step),
    documents: {
      load: (subject, name) => step("reads a document", () => table.loadDocument(subject, name)),
      save: (known, next, content) =>
        step("writes a document", () => table.saveDocument(known, next, content?.parts.join(""))),
    },
    readDocuments: (subject) => step("reads all documents", () => table.loadDocuments(subject)),
    findErased: () => step("reads tombstones", () => new Set<string>()),
    keptPages: {
      keep: () => Promise.reject(retryable("no list has pages here")),
      forget: async () => undefined,
      find: async () => undefined,
    },
    call: withToken(callOf(simulation, step), simulation.tokenReaderOf(step), refusals),
    gate: async () => undefined,
    send: sender(simulation, step),
    hide: async (queueUrl, hidden) => {
      if (hidden.length === 0) return [];
      const hide = () => {
        for (const { receiptHandle, seconds } of hidden) simulation.hide(queueUrl, receiptHandle, seconds);
      };
      await step("hides tasks", hide).catch(() => undefined);
      return hidden.map(() => undefined);
    },
    queues: {
      fetch: { url: "fetch", deadLetterUrl: "fetch dead" },
      checks: { url: "queues/checks", deadLetterUrl: "queues/checks dead" },
    },
    provider,
    startEndpoints: [endpoint],
    longestRunInMillis: 1_000,
    readAfterSeconds: 300,
    retrying: { retry: { baseSeconds: 2, maxSeconds: 900 }, limits: giveUpLimits(14 * 86_400) },
    clock: () => simulation.now().getTime(),
    now: simulation.now,
    random: () => 0.5,
    log: simulation.log,
  });
  const Records = messages
    .flatMap((message) => recordsOf(message, simulation.dateOf))
    .map((record) => ({ ...record, eventSourceARN: `arn:aws:sqs:::${queue}` }));
  return handler({ Records }, context);
}

const provider = {
  paths: {
    start: { method: "POST", path: "/{account_id}/start" },
    read: "/{account_id}/{endpoint}",
    readCompany: "/{account_id}/{endpoint}",
    account: "/{account_id}",
    companyAccount: "/{account_id}",
    users: "/users",
    refresh: "/refresh",
  },
  requestsPerMinute: 1_000,
  breaker: { failures: 5, baseSeconds: 1, maxSeconds: 5 },
  timeouts: { connectSeconds: 1, headersSeconds: 1, bodySeconds: 1 },
  maxResponseBytes: 1_000,
  maxDataBytes: 1_000,
  paging: { by: "cursor", items: "data", next: "next", parameter: "cursor", maxPages: 1 },
  allowPrivateAddresses: true,
} as const;

/** Runs the refresher once. */
export async function refreshToken(simulation: Surroundings, step: Do): Promise<void> {
  const { table } = simulation;
  const run = refresher({
    secret: simulation.secret.portOf(step),
    refusals: {
      read: () => step("reads which token is refused", () => table.refusedVersion?.id),
      conclude: (id, isEnded) => step("concludes", () => table.concludeRefusal(id, isEnded)),
    },
    call: callOf(simulation, step),
    readLifetime,
    refreshPath: "/refresh",
    proofPath: "/users",
    refresh: { marginFraction: 0.5, refreshEveryMinutes: 15 },
    now: simulation.now,
    log: simulation.log,
  });
  await run();
}
