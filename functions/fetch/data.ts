import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { backgroundInvoker } from "../../adapters/aws/background-invoker.ts";
import { dataClaims } from "../../adapters/dynamodb/claims.ts";
import { contentStore } from "../../adapters/dynamodb/document-store.ts";
import { versionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { keptPages } from "../../adapters/s3/kept-pages.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { messageVisibility } from "../../adapters/sqs/message-visibility.ts";
import { sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { parseRetrySettings } from "../../domain/core/retry.ts";
import {
  longestRunInSeconds,
  parseProviderSettings,
  parseStartEndpoints,
} from "../../domain/fetch/provider-settings.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { tokenCalls } from "../runtime/token-calls.ts";
import { fetcher } from "./fetcher.ts";

const settings = readSettings();
const provider = parseProviderSettings(settings.provider);
const queues = new SQSClient({});
const table = new DynamoDBClient({});
const tableName = variable("TABLE_NAME");
const now = () => new Date();

const overflow = overflowBucket(variable("OVERFLOW_BUCKET"));
const timeoutSeconds = numberOf(settings, "timeoutSeconds");

const wakeRefresher = backgroundInvoker(variable("REFRESH_FUNCTION_NAME"));
const handle = fetcher({
  versionedRecords: versionedRecords(table, tableName),
  claimData: dataClaims(table, tableName, timeoutSeconds, now),
  storeContent: contentStore(table, tableName, overflow),
  keptPages: keptPages(overflow),
  longestRunInMillis: longestRunInSeconds(timeoutSeconds) * 1000,
  ...tokenCalls({ table, secrets: new SecretsManagerClient({}) }, provider, {
    now,
    patienceInSeconds: 0,
    askRefresh: wakeRefresher,
  }),
  send: sqsSender(queues),
  hide: messageVisibility(queues),
  queueUrl: variable("FETCH_QUEUE_URL"),
  deadLetterQueueUrl: variable("DEAD_LETTER_QUEUE_URL"),
  provider,
  startEndpoints: parseStartEndpoints(settings.startEndpoints),
  readAfterSeconds: numberOf(settings, "readAfterSeconds"),
  retrying: {
    retry: parseRetrySettings(settings.retry),
    longestOutageHours: numberOf(settings, "longestOutageHours"),
    maxReceiveCount: numberOf(settings, "maxReceiveCount"),
  },
  now,
  random: Math.random,
  log,
});

export const handler = logged(handle);
