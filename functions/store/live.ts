import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { eventTable } from "../../adapters/event-table.ts";
import { jmespathSearch } from "../../adapters/jmespath-search.ts";
import { overflowBucket } from "../../adapters/overflow-bucket.ts";
import { sqsSender } from "../../adapters/sqs-sender.ts";
import { parseMapping } from "../../domain/mapping.ts";
import { numberOf } from "../../domain/parse.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log } from "../runtime/log.ts";
import type { ConsumerDependencies } from "./consumer.ts";

/** What a consumer uses in AWS; clients are made once per execution environment. */
export function liveDependencies(): ConsumerDependencies {
  const settings = readSettings();
  const retentionInDays = numberOf(settings, "retentionDays");
  return {
    record: eventTable(new DynamoDBClient({}), variable("TABLE_NAME"), retentionInDays),
    overflow: overflowBucket(variable("OVERFLOW_BUCKET")),
    send: sqsSender(new SQSClient({})),
    deadLetterQueueUrl: variable("DEAD_LETTER_QUEUE_URL"),
    mapping: parseMapping(settings.mapping),
    search: jmespathSearch,
    log,
  };
}
