import type { SQSBatchResponse } from "aws-lambda";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { writeChange } from "../../adapters/aws/relay-invoker.ts";
import { receiptRecorder } from "../../adapters/dynamodb/event-table.ts";
import { retryable } from "../../domain/core/failures.ts";
import type { WebhookKind } from "../../domain/event/events.ts";
import { credentialFields, defaultCredentialFields } from "../../domain/event/payload.ts";
import { receiver } from "../../functions/receive/receiver.ts";
import { refresher } from "../../functions/refresh/refresher.ts";
import { relay } from "../../functions/relay/relay.ts";
import { publisher } from "../../functions/runtime/subscriber-queues.ts";
import { consumer } from "../../functions/store/consumer.ts";
import { defaultMapping } from "../../lib/settings/default-mapping.ts";
import { context, httpEvent } from "../support/invocations.ts";
import { callOf, sender, versionedRecordsOf } from "./ports.ts";
import type { Do } from "./processes.ts";
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
        readEventually: (key) => step("looks for an event", () => simulation.table.readEvent(key)),
        readConsistently: (key) => step("looks for an event again", () => simulation.table.readEvent(key)),
      },
      30,
    ),
    recordCanary: async () => undefined,
    overflow: noObjects,
    send: sender(simulation, step),
    deadLetterQueueUrl: `${kind} dead`,
    mapping: kind === "accounts" ? simulation.accountsMapping : defaultMapping[kind],
    search: jmespathSearch,
    log: simulation.log,
  });
  return handler({ Records: recordsOf(kind, messages) }, context);
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
    send,
    queues: { fetch: "fetch", erase: "erase" },
    publish: publisher(send, subscribers, simulation.log),
    settings: { source: "urn:model", readByRange: [], documentsUrl: "https://reads.example/" },
    marks: { add: async () => 0, clear: async () => undefined },
    park: () => Promise.reject(new Error("nothing is parked here")),
    now: () => new Date(),
    erasesOnDeletion: false,
    log: simulation.log,
  });
  const records = changes.map((change, index) => writeChange(change, String(from + index)));
  // Through JSON, as Lambda delivers it.
  const { batchItemFailures } = await handler({ Records: JSON.parse(JSON.stringify(records)) });
  const [first] = batchItemFailures;
  return first === undefined ? changes.length : Number(first.itemIdentifier) - from;
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
    log: simulation.log,
  });
  await run();
}
