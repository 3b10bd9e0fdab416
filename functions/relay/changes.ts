import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { linkTable } from "../../adapters/dynamodb/links.ts";
import { sharedWrites } from "../../adapters/dynamodb/shared-writes.ts";
import { versionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { subjectDigest } from "../../adapters/erasure/subject-digest.ts";
import { findErased } from "../../adapters/erasure/tombstones.ts";
import { sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { parseJson, textOf } from "../../domain/core/parse.ts";
import { parseReadByRange } from "../../domain/fetch/provider-settings.ts";
import { parseSubscribers } from "../../domain/message/subscribers.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { sanitizeErrors } from "../runtime/sanitize-errors.ts";
import { joinQueues, publisher } from "../runtime/subscriber-queues.ts";
import { outbox } from "./outbox.ts";
import { relay } from "./relay.ts";

const settings = readSettings();
const table = new DynamoDBClient({});
const queues = parseJson(variable("SUBSCRIBER_QUEUES"), "SUBSCRIBER_QUEUES");
const subscribers = joinQueues(parseSubscribers(settings.subscribers), queues);

const send = sqsSender(new SQSClient({}));
const tableName = variable("TABLE_NAME");
const write = sharedWrites(table, tableName);
const digestOf = subjectDigest(new SecretsManagerClient({}), variable("ERASURE_KEY_ARN"));

const handle = sanitizeErrors(
  relay({
    versionedRecords: versionedRecords(table, tableName, write),
    link: linkTable(write),
    findErased: findErased(table, tableName, digestOf),
    outbox: outbox(
      send,
      { fetch: variable("FETCH_QUEUE_URL"), erase: variable("ERASE_QUEUE_URL") },
      publisher(send, subscribers, log),
    ),
    readByRange: parseReadByRange(settings.readByRange),
    erasesOnDeletion: settings.erasesOnDeletion === true,
    eventSource: textOf(settings, "eventSource"),
    log,
  }),
);

export const handler = logged(handle);
