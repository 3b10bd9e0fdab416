import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { leanClient } from "../../adapters/aws/client.ts";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { canaryTable, eventTable } from "../../adapters/dynamodb/event-table.ts";
import { overflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { numberOf } from "../../domain/core/parse.ts";
import { parseMapping } from "../../domain/event/mapping.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { consumer } from "./consumer.ts";

const settings = readSettings();
const table = leanClient(new DynamoDBClient({}));
const tableName = variable("TABLE_NAME");

/** Stores the events of one kind. The settings have the kind's mapping. */
export const handler = logged(
  consumer({
    record: eventTable(table, tableName, numberOf(settings, "retentionDays")),
    recordCanary: canaryTable(batchingWriter(table, tableName), () => new Date()),
    overflow: overflowBucket(variable("OVERFLOW_BUCKET")),
    send: sqsSender(leanClient(new SQSClient({}))),
    deadLetterQueueUrl: variable("DEAD_LETTER_QUEUE_URL"),
    mapping: parseMapping(settings.mapping),
    search: jmespathSearch,
    log,
  }),
);
