import type { SQSBatchResponse } from "aws-lambda";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import type { Revise, Revisions } from "../../adapters/dynamodb/versioned-records.ts";
import type { CallWithToken } from "../../adapters/provider/provider-api.ts";
import { withToken } from "../../adapters/provider/with-token.ts";
import { tokenRefusals } from "../../adapters/secrets/token-refusals.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import { writeChange } from "../../adapters/streams/change-stream.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { Kind } from "../../domain/event/events.ts";
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
import { endpoint, readLife, type Webhook } from "./provider.ts";
import { type Message, recordsOf } from "./queue.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Ahead } from "./table.ts";

/** A failed send, as the adapter tells it. */
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
export const fetchLife = 60;

/** A port to the queues of which each send is one step; where a fault strikes, every message is told to have failed. */
function sender(world: Surroundings, step: Do): Send {
  return async (queueUrl, messages) => {
    if (messages.length === 0) return [];
    const send = () => {
      for (const message of messages) world.send(queueUrl, message);
    };
    try {
      await step(`sends to ${queueUrl}`, send);
      return messages.map(() => undefined);
    } catch {
      return messages.map(() => unsent);
    }
  };
}

function revisionsOf(world: Surroundings, step: Do): Revisions {
  const { table } = world;
  const revising = (read: Ahead): Revise => ({
    state: (subject, change, known) =>
      table.reviseState(step, subject, change, { ahead: read.states, known }),
    dataSet: (subject, name, change, known) =>
      table.reviseDataSet(step, { subject, name }, change, { ahead: read.dataSets, known }),
  });
  return {
    // What can't be read ahead is read in its turn.
    readAhead: (names) =>
      step("reads records", () => table.readAhead(names)).then(revising, () => revising(table.readAhead([]))),
    ...revising(table.readAhead([])),
    loadState: (subject) => step("reads a state", () => table.loadState(subject)),
    loadDataSet: (subject, name) => step("reads a data set", () => table.loadDataSet(subject, name)),
    loadDataSets: (subject) => step("reads all data sets", () => table.loadDataSets(subject)),
  };
}

/** Receives one webhook. @returns the status of the answer */
export async function receive(world: Surroundings, step: Do, { kind, body }: Webhook): Promise<number> {
  const handler = receiver(kind, {
    send: sender(world, step),
    overflow: noObjects,
    queueUrl: kind,
    deadLetterQueueUrl: `${kind} dead`,
    secretHeader,
    mappedHeaders: [],
    maxBodyBytes: 10_000,
    isAllowedSource: () => true,
    readSecret: async () => ({ current: secret }),
    now: world.now,
    log: world.log,
  });
  const { statusCode = 0 } = await handler(httpEvent({ headers: { [secretHeader]: secret }, body }), context);
  return statusCode;
}

/** Stores a batch of one kind's queue. */
export function store(
  world: Surroundings,
  step: Do,
  kind: Kind,
  messages: readonly Message[],
): Promise<SQSBatchResponse> {
  const handler = consumer({
    record: (receipt) => step("records a receipt", () => world.table.record(receipt)),
    overflow: noObjects,
    send: sender(world, step),
    deadLetterQueueUrl: `${kind} dead`,
    mapping: kind === "accounts" ? world.accountsMapping : defaultMapping[kind],
    search: jmespathSearch,
    log: world.log,
  });
  return handler({ Records: messages.flatMap((message) => recordsOf(message, world.dateOf)) }, context);
}

/** Relays a batch of the stream. @returns how many of its records are done */
export async function relayBatch(world: Surroundings, step: Do, from: number, most: number): Promise<number> {
  const changes = world.table.stream.slice(from, from + most);
  const send = sender(world, step);
  const subscribers = world.subscribers.map((name) => ({
    name,
    queueUrl: name,
    deadLetterQueueUrl: `${name} dead`,
  }));
  const handler = relay({
    revisions: revisionsOf(world, step),
    link: (user, account) => step("links", () => void world.table.links.add(`${user} ${account}`)),
    findErased: () => step("reads tombstones", () => new Set<string>()),
    outbox: outbox(send, { fetch: "fetch", erase: "erase" }, publisher(send, subscribers, world.log)),
    readByRange: [],
    erasesOnDeletion: false,
    eventSource: "urn:model",
    log: world.log,
  });
  const records = changes.map((change, index) => writeChange(change, String(from + index)));
  // By way of JSON, as Lambda hands it over.
  const { batchItemFailures } = await handler({ Records: JSON.parse(JSON.stringify(records)) });
  const [first] = batchItemFailures;
  return first === undefined ? changes.length : Number(first.itemIdentifier) - from;
}

function callOf(world: Surroundings, step: Do): CallWithToken {
  return async (token, call) => {
    // Its request is under way, then its answer is.
    const answer = await step(`calls ${call.method} ${call.path}`, () => world.provider.answer(token, call));
    return step("has its answer", () => answer);
  };
}

/** Does a batch of the fetch queue's tasks. */
export function fetchBatch(
  world: Surroundings,
  step: Do,
  messages: readonly Message[],
): Promise<SQSBatchResponse> {
  const { table } = world;
  const note = (id: string) => step("notes a refused token", () => table.noteRefusal(id));
  const refusals = tokenRefusals({ note }, async () => world.refresh(), world.now);
  const handler = fetcher({
    revisions: revisionsOf(world, step),
    claimData: async (subject, name, noted, lookedAt) => {
      const looked = world.secondsOf(lookedAt);
      const claim = await step("claims", () =>
        table.claim(subject, name, noted, { lookedAt: looked, now: world.seconds, life: fetchLife }),
      );
      return () =>
        step("gives its claim back", () => table.giveBack(subject, name, claim)).catch(() => undefined);
    },
    storeContent: (subject, name, noted, content) =>
      step("stores data", () => table.storeContent(subject, name, noted, content?.parts.join(""))),
    keptPages: {
      keep: () => Promise.reject(retryable("no list has pages here")),
      find: async () => undefined,
    },
    call: withToken(callOf(world, step), world.tokenReaderOf(step), refusals),
    gate: async () => undefined,
    send: sender(world, step),
    hide: async (_, hidden) => {
      if (hidden.length === 0) return [];
      const hide = () => {
        for (const { receiptHandle, seconds } of hidden) world.hide("fetch", receiptHandle, seconds);
      };
      await step("hides tasks", hide).catch(() => undefined);
      return hidden.map(() => undefined);
    },
    queueUrl: "fetch",
    deadLetterQueueUrl: "fetch dead",
    provider,
    startEndpoints: [endpoint],
    settlingInMillis: 1_000,
    readAfterSeconds: 300,
    retrying: {
      retry: { baseSeconds: 2, maxSeconds: 900 },
      longestOutageHours: 72,
      maxReceiveCount: 5,
    },
    now: world.now,
    random: () => 0.5,
    log: world.log,
  });
  return handler({ Records: messages.flatMap((message) => recordsOf(message, world.dateOf)) }, context);
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
export async function refreshToken(world: Surroundings, step: Do): Promise<void> {
  const { table } = world;
  const run = refresher({
    secret: world.secret.portOf(step),
    refusals: {
      read: () => step("reads which token is refused", () => table.refusedVersion?.id),
      conclude: (id, isEnded) => step("concludes", () => table.concludeRefusal(id, isEnded)),
    },
    call: callOf(world, step),
    readLife,
    refreshPath: "/refresh",
    proofPath: "/users",
    refresh: { marginFraction: 0.5, refreshEveryMinutes: 15 },
    now: world.now,
    log: world.log,
  });
  await run();
}
