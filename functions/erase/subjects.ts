import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { erasableRecords } from "../../adapters/erasure/erasable-records.ts";
import { erasureLogWriter } from "../../adapters/erasure/erasure-log.ts";
import { subjectDigest } from "../../adapters/erasure/find-erased.ts";
import { sweepLease } from "../../adapters/erasure/sweep-lease.ts";
import { reportWriter, tombstones } from "../../adapters/erasure/tombstones.ts";
import { objectEraser } from "../../adapters/s3/object-eraser.ts";
import { keepsNoVersions, versionPurger } from "../../adapters/s3/object-versions.ts";
import { overflowBucket, s3Client } from "../../adapters/s3/overflow-bucket.ts";
import { deadLetterArchive } from "../../adapters/sqs/dead-letter-archive.ts";
import { sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { undeliveredChanges } from "../../adapters/streams/undelivered-changes.ts";
import { numberOf, textOf, textsOf } from "../../domain/core/parse.ts";
import { parseSubscribers } from "../../domain/message/message.ts";
import { unerasedSeconds } from "../../domain/recovery/erasure.ts";
import { namesIn, queuesBeside, readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { joinQueues, publisher } from "../runtime/subscriber-queues.ts";
import { deadLetterSources } from "./dead-letter-sources.ts";
import { eraser } from "./eraser.ts";

const settings = readSettings();
const now = () => new Date();
const table = new DynamoDBClient({});
const buckets = s3Client(S3Client);
const purge = settings.isVersioned === true ? versionPurger(buckets) : keepsNoVersions;
const tableName = variable("TABLE_NAME");
const queues = new SQSClient({});
const send = sqsSender(queues);
const queueUrl = variable("ERASE_QUEUE_URL");
const deadLetterQueueUrl = variable("DEAD_LETTER_QUEUE_URL");
const subscribers = joinQueues(
  parseSubscribers(settings.subscribers),
  queueUrl,
  namesIn("SUBSCRIBER_QUEUES"),
);
const deadLetters = [
  ...queuesBeside(queueUrl, textsOf(settings, "queues"), namesIn("DEAD_LETTER_QUEUES")),
  ...subscribers.map((each) => [`subscriber/${each.name}`, each.deadLetterQueueUrl] as const),
];

const handle = eraser({
  digestOf: subjectDigest(new SecretsManagerClient({}), variable("ERASURE_KEY_ARN")),
  tombstones: tombstones(table, tableName, numberOf(settings, "tombstoneDays"), now),
  writeLog: erasureLogWriter(buckets, variable("ERASURE_LOG_BUCKET")),
  records: erasableRecords(table, tableName),
  objects: objectEraser(buckets, variable("OVERFLOW_BUCKET"), purge),
  bodies: overflowBucket(variable("OVERFLOW_BUCKET")),
  deadLetters: deadLetterSources(queues, deadLetterArchive(buckets, variable("ARCHIVE_BUCKET"), purge), {
    named: deadLetters,
    others: [queueUrl, deadLetterQueueUrl, ...subscribers.map((subscriber) => subscriber.queueUrl)],
    pipelineName: variable("PIPELINE_NAME"),
  }),
  takeSweepLease: sweepLease(table, tableName, now),
  recheckSeconds: () => Math.ceil(numberOf(settings, "recheckSeconds") * (0.5 + Math.random())),
  removeUndelivered: undeliveredChanges(buckets, variable("FAILURES_BUCKET"), purge),
  publish: publisher(send, subscribers, log),
  writeReport: reportWriter(table, tableName, now),
  send,
  queueUrl,
  deadLetterQueueUrl,
  settleSeconds: unerasedSeconds,
  drainSeconds: numberOf(settings, "drainSeconds"),
  eventSource: textOf(settings, "eventSource"),
  log,
});

export const handler = logged(handle);
