import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { erasableRecords } from "../../adapters/erasable-records.ts";
import { erasureLogWriter } from "../../adapters/erasure-log.ts";
import { keepReport } from "../../adapters/erasure-report.ts";
import { givenUpChanges } from "../../adapters/given-up-changes.ts";
import { objectEraser } from "../../adapters/object-eraser.ts";
import { sqsSender } from "../../adapters/sqs-sender.ts";
import { subjectDigest } from "../../adapters/subject-digest.ts";
import { tombstones } from "../../adapters/tombstones.ts";
import { numberOf, parseJson, textOf } from "../../domain/parse.ts";
import { parseSubscribers } from "../../domain/subscribers.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log } from "../runtime/log.ts";
import { joinQueues, publisher } from "../runtime/subscriber-queues.ts";
import { eraser } from "./eraser.ts";

const settings = readSettings();
const now = () => new Date();
const table = new DynamoDBClient({});
const buckets = new S3Client({});
const send = sqsSender(new SQSClient({}));
const tableName = variable("TABLE_NAME");
const queues = parseJson(variable("SUBSCRIBER_QUEUES"), "SUBSCRIBER_QUEUES");

export const handler = eraser({
  digestOf: subjectDigest(new SecretsManagerClient({}), variable("ERASURE_KEY_ARN")),
  tombstones: tombstones(table, tableName, numberOf(settings, "tombstoneDays"), now),
  writeLog: erasureLogWriter(buckets, variable("ERASURE_LOG_BUCKET")),
  records: erasableRecords(table, tableName),
  objects: objectEraser(buckets, variable("OVERFLOW_BUCKET")),
  removeGivenUp: givenUpChanges(buckets, variable("FAILURES_BUCKET")),
  publish: publisher(send, joinQueues(parseSubscribers(settings.subscribers), queues), log),
  keepReport: keepReport(table, tableName, now),
  send,
  queueUrl: variable("ERASE_QUEUE_URL"),
  deadLetterQueueUrl: variable("DEAD_LETTER_QUEUE_URL"),
  settleSeconds: numberOf(settings, "settleSeconds"),
  eventSource: textOf(settings, "eventSource"),
  log,
});
