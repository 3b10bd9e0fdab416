import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { backgroundInvoker, leanClient, serviceClock } from "../../adapters/aws/client.ts";
import { batchingReader, batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { documentReader, documentStore, versionKeeper } from "../../adapters/dynamodb/documents.ts";
import { readinessRecords, sharedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { findErased, subjectDigest } from "../../adapters/erasure/find-erased.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { batchingSender, messageVisibility, sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { numberOf, parseTexts, textsOf } from "../../domain/core/parse.ts";
import { parseProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { giveUpLimits, parseRetrySettings, reservedSecondsOf } from "../../domain/fetch/task.ts";
import { parseAwaited } from "../../domain/readiness/readiness.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { providerClient } from "../runtime/provider-client.ts";
import { fetcher } from "./fetcher.ts";
import { keptPages } from "./read-pages.ts";

const settings = readSettings();
const provider = parseProviderSettings(settings.provider);
const sqs = leanClient(new SQSClient({}));
const secrets = new SecretsManagerClient({});
const table = leanClient(new DynamoDBClient({}));
const tableName = variable("TABLE_NAME");
const now = () => new Date();

// Combines a batch's reads into one request, and its writes into another.
const shared = { read: batchingReader(table, tableName), write: batchingWriter(table, tableName) };
const overflow = overflowBucket(variable("OVERFLOW_BUCKET"));
const { documentVersionsDays: days } = settings;
const retainVersion =
  days === undefined
    ? undefined
    : versionKeeper(shared.read, shared.write, numberOf(settings, "documentVersionsDays"));
const timeoutSeconds = numberOf(settings, "timeoutSeconds");

const awaited = parseAwaited(settings.readiness);

const handle = fetcher({
  versionedRecords: sharedRecords(shared),
  documents: documentStore(shared.read, shared.write, overflow, retainVersion),
  readDocuments: documentReader(table, tableName),
  findErased: findErased(shared.read, subjectDigest(secrets, variable("ERASURE_KEY_ARN"))),
  keptPages: keptPages(overflow),
  reservedInMillis: reservedSecondsOf(timeoutSeconds) * 1000,
  client: providerClient({ table, secrets, read: shared.read }, provider, {
    now,
    patienceInSeconds: 0,
    askRefresh: backgroundInvoker(sqs.config, variable("REFRESH_FUNCTION_NAME")),
  }),
  send: batchingSender(sqsSender(sqs)),
  changeVisibility: messageVisibility(sqs),
  queues: {
    fetch: { url: variable("FETCH_QUEUE_URL"), deadLetterUrl: variable("DEAD_LETTER_QUEUE_URL") },
    checks: { url: variable("CHECK_QUEUE_URL"), deadLetterUrl: variable("CHECK_DEAD_LETTER_QUEUE_URL") },
  },
  provider,
  attributes: settings.attributes === undefined ? {} : parseTexts(settings.attributes, "attributes"),
  startEndpoints: textsOf(settings, "startEndpoints"),
  readiness: awaited && { ...awaited, ...readinessRecords(shared.read, shared.write) },
  readAfterSeconds: numberOf(settings, "readAfterSeconds"),
  retrying: {
    retry: parseRetrySettings(settings.retry),
    limits: giveUpLimits(numberOf(settings, "retentionSeconds")),
    longestOutageSeconds: numberOf(settings, "longestOutageSeconds"),
  },
  clock: serviceClock(table),
  now,
  random: Math.random,
  log,
});

export const handler = logged(handle);
