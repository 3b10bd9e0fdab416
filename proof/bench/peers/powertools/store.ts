import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { Logger } from "@aws-lambda-powertools/logger";
import { JSONStringified } from "@aws-lambda-powertools/parser/helpers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, PutCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import type { z } from "zod";
import { eventKey, factsOf, variable } from "../job.ts";
import { received } from "../payloads.ts";

const logger = new Logger({ serviceName: "store" });
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  marshallOptions: { removeUndefinedValues: true },
});
const processor = new BatchProcessor(EventType.SQS);
const message = JSONStringified(received);

// Longer than the provider's retries of three days.
const idempotency = new IdempotencyConfig({ eventKeyJmesPath: "id", expiresAfterSeconds: 4 * 86_400 });
const persistenceStore = new DynamoDBPersistenceLayer({ tableName: variable("IDEMPOTENCY_TABLE") });

const store = makeIdempotent(
  async ({ id, kind, receivedAt, payload }: z.output<typeof received>) => {
    const facts = factsOf(payload);
    const item = { ...eventKey(facts, id), facts, kind, receivedAt, payload };
    await table.send(new PutCommand({ TableName: variable("TABLE_NAME"), Item: item }));
    logger.info("event stored", { kind, id });
    return { id };
  },
  { persistenceStore, config: idempotency },
);

export const handler = middy<SQSEvent>().handler(async (event, context) => {
  idempotency.registerLambdaContext(context);
  logger.addContext(context);
  return processPartialResponse(
    event,
    async (record: SQSRecord) => {
      await store(message.parse(record.body));
    },
    processor,
    { context },
  );
});
