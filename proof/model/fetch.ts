import type { SQSBatchResponse } from "aws-lambda";
import type { DocumentStore } from "../../adapters/dynamodb/documents.ts";
import type { ProviderApi } from "../../adapters/provider/provider-api.ts";
import { ProviderClient } from "../../adapters/provider/provider-client.ts";
import { TokenRefusals } from "../../adapters/provider/token-refusals.ts";
import type { KeptPages, PagesOf } from "../../adapters/s3/overflow-bucket.ts";
import { nameOf } from "../../domain/event/subjects.ts";
import { giveUpLimits } from "../../domain/fetch/waiting.ts";
import { fetcher } from "../../functions/fetch/fetcher.ts";
import { context } from "../support/invocations.ts";
import {
  callOf,
  readinessRecordsOf,
  sender,
  tableRequests,
  versionedRecordsOf,
  visibilityOf,
} from "./ports.ts";
import type { Do, Process } from "./processes.ts";
import { endpoint } from "./provider.ts";
import { type Message, recordsOf } from "./queue.ts";
import type { ReadsOfProcess } from "./reads.ts";
import type { Surroundings } from "./surroundings.ts";

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
    versionedRecords: versionedRecordsOf(simulation, request),
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

function documentsOf({ table }: Surroundings, request: Do, reads: ReadsOfProcess): DocumentStore {
  return {
    load: (subject, name) =>
      request("reads a document", () => {
        if (name.endpoint === endpoint) reads.load(nameOf(subject));
        return table.loadDocument(subject, name);
      }),
    save: (known, next, content) =>
      request("writes a document", () => {
        const outcome = table.saveDocument(known, next, content?.parts.join(""));
        if (outcome === "written" && next.endpoint === endpoint) reads.write(nameOf(next.subject));
        return outcome;
      }),
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
