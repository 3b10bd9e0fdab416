import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SQSClient } from "@aws-sdk/client-sqs";

/** Only the clients that a consumer needs. */
const clients = [new DynamoDBClient({}), new SQSClient({})];

export const handler = async () => clients.length;
