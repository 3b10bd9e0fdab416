import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { Logger } from "@aws-lambda-powertools/logger";
import { JSONStringified } from "@aws-lambda-powertools/parser/helpers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import { dataItem, variable } from "../job.ts";
import { task } from "../payloads.ts";
import { cachedSecret, callProvider } from "../provider.ts";

const logger = new Logger({ serviceName: "fetch" });
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const processor = new BatchProcessor(EventType.SQS);
const readToken = cachedSecret("TOKEN_SECRET_ARN", "token");
const message = JSONStringified(task);

// Keyed by message: a later task for the same data is a different one.
const idempotency = new IdempotencyConfig({
  eventKeyJmesPath: "messageId",
  expiresAfterSeconds: 4 * 86_400,
});
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: variable("IDEMPOTENCY_TABLE") });

const perform = makeIdempotent(
  async ({ body }: SQSRecord) => {
    const wanted = message.parse(body);
    const content = await callProvider(wanted, await readToken());
    const { accountId, endpoint } = wanted;
    if (endpoint !== undefined) {
      const Item = dataItem(accountId, endpoint, content);
      await table.send(new PutCommand({ TableName: variable("TABLE_NAME"), Item }));
    }
    logger.info("task done", { task: wanted.task, accountId });
    return { accountId };
  },
  { persistenceStore, config: idempotency },
);

export const handler = middy<SQSEvent>().handler(async (event, context) => {
  idempotency.registerLambdaContext(context);
  logger.addContext(context);
  return processPartialResponse(event, perform, processor, { context });
});
