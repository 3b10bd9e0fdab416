import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";

/** The clients that a consumer can't do without, and nothing else. */
const clients = [new DynamoDBClient({}), new SQSClient({})];

export const handler = async () => clients.length;
