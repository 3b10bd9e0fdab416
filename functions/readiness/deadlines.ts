import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { leanClient, serviceClock } from "../../adapters/aws/client.ts";
import { batchingReader, batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { readinessRecords, sharedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { messageVisibility, sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { variable } from "../runtime/environment.ts";
import { log, logged } from "../runtime/log.ts";
import { deadlineKeeper } from "./deadline-keeper.ts";

const table = leanClient(new DynamoDBClient({}));
const sqs = leanClient(new SQSClient({}));
const tableName = variable("TABLE_NAME");
const shared = { read: batchingReader(table, tableName), write: batchingWriter(table, tableName) };

export const handler = logged(
  deadlineKeeper({
    records: readinessRecords(shared.read, shared.write),
    loadState: sharedRecords(shared).loadState,
    clock: serviceClock(table),
    changeVisibility: messageVisibility(sqs),
    send: sqsSender(sqs),
    queue: { url: variable("DEADLINE_QUEUE_URL"), deadLetterUrl: variable("DEAD_LETTER_QUEUE_URL") },
    log,
  }),
);
