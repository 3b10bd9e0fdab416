import { setTimeout } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { leanClient, serviceClock } from "../../adapters/aws/client.ts";
import { batchingReader, batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { supersededRemover } from "../../adapters/dynamodb/documents.ts";
import { linkTable, partitions } from "../../adapters/dynamodb/event-table.ts";
import { readinessRecords, sharedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { findErased, subjectDigest } from "../../adapters/erasure/find-erased.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { parkedBatches, parkedChanges, recordMarks } from "../../adapters/streams/change-stream.ts";
import { isFields, numberOf, textOf, textsOf } from "../../domain/core/parse.ts";
import { reservedSecondsOf } from "../../domain/fetch/task.ts";
import { unreadDocuments } from "../../domain/message/document-reference.ts";
import { parseSubscribers } from "../../domain/message/message.ts";
import { parseReadinessSettings } from "../../domain/readiness/readiness.ts";
import { namesIn, readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { inlineDocuments, joinQueues, publisher, retryWaitsMs } from "../runtime/subscriber-queues.ts";
import { resendParked } from "./parking.ts";
import { relay } from "./relay.ts";

const settings = readSettings();
const table = leanClient(new DynamoDBClient({}));
const fetchQueueUrl = variable("FETCH_QUEUE_URL");
const subscribers = joinQueues(
  parseSubscribers(settings.subscribers),
  fetchQueueUrl,
  namesIn("SUBSCRIBER_QUEUES"),
);

const send = sqsSender(leanClient(new SQSClient({})));
const tableName = variable("TABLE_NAME");
const now = () => new Date();
const shared = { read: batchingReader(table, tableName), write: batchingWriter(table, tableName) };
const digestOf = subjectDigest(new SecretsManagerClient({}), variable("ERASURE_KEY_ARN"));

const overflow = overflowBucket(variable("OVERFLOW_BUCKET"));
const inlineLimit = settings.inlineLimit === undefined ? undefined : numberOf(settings, "inlineLimit");
const documentsUrl = variable("DOCUMENTS_URL");
const isInlineRequired = documentsUrl === unreadDocuments;
const inline =
  inlineLimit === undefined ? undefined : inlineDocuments(inlineLimit, overflow, isInlineRequired);

const failures = overflowBucket(variable("FAILURES_BUCKET"));
const readiness = parseReadinessSettings(settings.readiness);
const attributes = isFields(settings.attributes) ? { asks: settings.attributes.asks === true } : undefined;
const timeoutSeconds = numberOf(settings, "timeoutSeconds");
const retries = { waitsMs: retryWaitsMs(timeoutSeconds), wait: setTimeout, now };

const dependencies = {
  findErased: findErased(shared.read, digestOf),
  versionedRecords: sharedRecords(shared),
  erasesOnDeletion: settings.erasesOnDeletion === true,
  settings: {
    source: textOf(settings, "eventSource"),
    documentsUrl,
    readByRange: textsOf(settings, "readByRange"),
    readiness,
  },
  attributes,
  givesReasons: settings.givesReasons === true,
  readiness: readiness && {
    records: readinessRecords(shared.read, shared.write),
    partitions: partitions(table, tableName),
    settings: readiness,
    clock: serviceClock(table),
  },
  link: linkTable(shared.write),
  removeSuperseded: supersededRemover(shared.read, overflow),
  send,
  queues: {
    fetch: fetchQueueUrl,
    erase: variable("ERASE_QUEUE_URL"),
    deadlines: namesIn("DEADLINE_QUEUE_URL")[0],
    canary: namesIn("CANARY_QUEUE_URL")[0],
  },
  publish: publisher(send, subscribers, log, { inline, retries }),
  marks: recordMarks(table, tableName, now),
  park: parkedChanges(failures, now),
  now,
  log,
};

const resending = {
  publishTo: new Map(
    subscribers.map((each) => [
      each.name,
      publisher(send, [each], log, { inline, retries: { ...retries, waitsMs: [] } }),
    ]),
  ),
  parked: () => parkedBatches(failures),
  lastsSeconds: numberOf(settings, "parkingLastsSeconds"),
  longestRunSeconds: timeoutSeconds - reservedSecondsOf(timeoutSeconds),
};

const relayChanges = relay(dependencies);

/** Handles an event of the stream, of `repair`, or of the schedule that resends messages parked for subscribers. */
const handle = sanitizeErrors(
  async (event: Parameters<typeof relayChanges>[0] | { readonly resendsParked: true }) => {
    if (!("resendsParked" in event)) return relayChanges(event);
    await resendParked(dependencies, resending);
    return undefined;
  },
);

export const handler = logged(handle);
