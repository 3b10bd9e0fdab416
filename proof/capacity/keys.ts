import type * as keys from "../../adapters/dynamodb/keys.ts";

/** The functions and constants of adapters/dynamodb/keys.ts that name an item. */
export type KeyName = Extract<keyof typeof keys, `${string}Key`>;

/** Where writes of a key go, and what that means under load. */
export type KeyAnalysis = {
  /** What one partition key is for. */
  readonly partition: "a user, account or company account" | "the provider" | "one work" | "a digest";
  readonly writtenBy: string;
  /** Writes for each event: of `all` partitions, spread; or of a single item, which then ends at a rate. */
  readonly writes:
    | { readonly spread: "subjects"; readonly what: string }
    | { readonly spread: "none"; readonly perEvent: (demands: Rates) => number }
    | { readonly spread: "rare"; readonly what: string };
  readonly outcome: string;
  readonly helps: string;
};

/** What the rates of single items are made of. */
export type Rates = { readonly fetchBatches: number };

const subject = "a user, account or company account";
const retried =
  "DynamoDB throttles that partition; the SDK tries again, then SQS delivers the message again: late, not lost";
const isolated = "nothing is needed: DynamoDB splits a busy partition by its sort keys within minutes";

/** Each key of the table. A test sees that none is missing. */
export const keyAnalyses: Readonly<Record<KeyName, KeyAnalysis>> = {
  eventKey: {
    partition: subject,
    writtenBy: "store",
    writes: { spread: "subjects", what: "one for each delivery of one subject, 1 unit for each KB of body" },
    outcome: retried,
    helps: isolated,
  },
  stateKey: {
    partition: subject,
    writtenBy: "relay, fetch (answers)",
    writes: { spread: "subjects", what: "one for each event of one subject that says something new" },
    outcome:
      "the record comes again with its batch, which holds up the shard; beyond `relay.retryAttempts` it is in the failures bucket, for `repair`",
    helps: "nothing splits one item; a subject has a handful of events a day",
  },
  documentKey: {
    partition: subject,
    writtenBy: "fetch",
    writes: { spread: "subjects", what: "one for each read of one document, 1 unit for each KB: up to 8" },
    outcome: "the task is hidden, and tried again",
    helps: isolated,
  },
  versionKey: {
    partition: subject,
    writtenBy: "fetch, where `retention.documentVersionsDays` is set",
    writes: {
      spread: "subjects",
      what: "one for each change of one document, 1 unit for each KB: up to 8; with it a read of the holds",
    },
    outcome: "the task is hidden, and tried again: nothing is superseded before it is kept",
    helps: isolated,
  },
  supersededKey: {
    partition: subject,
    writtenBy: "fetch",
    writes: {
      spread: "subjects",
      what: "one for each change of one document that lies in an object, 1 unit",
    },
    outcome: "the task is hidden, and tried again: nothing is superseded before it is noted",
    helps: isolated,
  },
  holdKey: {
    partition: subject,
    writtenBy: "the command `hold`",
    writes: { spread: "rare", what: "one for each act of a person" },
    outcome: "the command reports, and can be given again",
    helps: "nothing is needed",
  },
  linkKey: {
    partition: subject,
    writtenBy: "relay",
    writes: { spread: "subjects", what: "one for each account of one user, once" },
    outcome: "the record comes again with its batch",
    helps: "nothing is needed: a user has some dozen accounts",
  },
  callWindowKey: {
    partition: "the provider",
    writtenBy: "fetch, reconcile, refresh, register",
    writes: { spread: "none", perEvent: ({ fetchBatches }) => fetchBatches },
    outcome:
      "leases fail, and with them the calls of their batch, which come again: the provider is called less than its rate allows",
    helps:
      "larger batches: ten leases at once; beyond that several counters, a tenth of the rate each: not built",
  },
  breakerKey: {
    partition: "the provider",
    writtenBy: "whoever finds the provider down, or back",
    writes: {
      spread: "rare",
      what: "one for each turn; read once in five seconds by each environment, 3,000 a second only with 15,000 of them",
    },
    outcome: "a task whose gate can't be read is tried again",
    helps: "fewer environments: `fetch.maxConcurrency`",
  },
  refusalNoteKey: {
    partition: "the provider",
    writtenBy: "fetch, reconcile (a token was refused)",
    writes: { spread: "rare", what: "one for each environment in five seconds, while a token is refused" },
    outcome: "the refresher's next scheduled run learns of it",
    helps: "fewer environments: `fetch.maxConcurrency`",
  },
  reconciliationKey: {
    partition: "one work",
    writtenBy: "reconcile",
    writes: { spread: "rare", what: "one for each page of the provider's list, one writer at a time" },
    outcome: "the next tick goes on",
    helps: "nothing is needed",
  },
  tombstoneKey: {
    partition: "a digest",
    writtenBy: "erase; the relay reads one for each subject of a batch",
    writes: { spread: "rare", what: "two for each erased subject, each a partition of its own" },
    outcome:
      "an erasure is tried again; a batch whose tombstones can't be read is not relayed until they are",
    helps: "nothing is needed: digests spread evenly, and a subject's is read once in a batch",
  },
  erasureReportKey: {
    partition: "one work",
    writtenBy: "erase, where somebody follows it",
    writes: { spread: "rare", what: "one for each step of one erasure" },
    outcome: "the step is tried again",
    helps: "nothing is needed",
  },
  sweepLeaseKey: {
    partition: "one work",
    writtenBy: "erase, for each look at the dead letters",
    writes: { spread: "rare", what: "two for each look, one erasure at a time" },
    outcome: "the step is tried again",
    helps: "nothing is needed",
  },
  auditKey: {
    partition: "one work",
    writtenBy: "commands that operators run",
    writes: { spread: "rare", what: "two for each act of a person" },
    outcome: "the command reports, and nothing is done that is not recorded",
    helps: "nothing is needed",
  },
  replayKey: {
    partition: "one work",
    writtenBy: "the command `replay`",
    writes: { spread: "rare", what: "one for each page of one replay" },
    outcome: "the command reports, and can be gone on with",
    helps: "nothing is needed",
  },
};
