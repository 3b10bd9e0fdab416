import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { Logger } from "@aws-lambda-powertools/logger";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import middy from "@middy/core";
import type { DynamoDBRecord, DynamoDBStreamEvent } from "aws-lambda";
import { change } from "../changes.ts";
import { subscriberQueueUrl, variable } from "../job.ts";
import { sendBatches } from "../send-batches.ts";

const logger = new Logger({ serviceName: "relay" });
const queues = new SQSClient({});
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  marshallOptions: { removeUndefinedValues: true },
});
const processor = new BatchProcessor(EventType.DynamoDBStreams);

export const handler = middy<DynamoDBStreamEvent>().handler(async (event, context) => {
  logger.addContext(context);
  const tasks: string[] = [];
  const messages: string[] = [];
  const relay = async (record: DynamoDBRecord) => {
    const { profile, task, message } = change(record);
    if (profile !== undefined) {
      await table.send(new UpdateCommand({ TableName: variable("TABLE_NAME"), ...profile }));
    }
    if (task !== undefined) tasks.push(JSON.stringify(task));
    messages.push(message);
  };
  const response = await processPartialResponse(event, relay, processor, { context });
  await sendBatches(queues, variable("FETCH_QUEUE_URL"), tasks);
  await sendBatches(queues, subscriberQueueUrl(), messages);
  logger.info("changes relayed", { count: event.Records.length });
  return response;
});
