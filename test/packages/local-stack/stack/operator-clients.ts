import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { LocalStack } from "@income-events/local-stack/stack.ts";

/** Clients that may do everything in a running stack. */
export function operatorClients(stack: LocalStack) {
  const settings = { region: stack.region, endpoint: stack.gatewayUrl, credentials: stack.operator };
  const clients = {
    sqs: new SQSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    s3: new S3Client(settings),
    secrets: new SecretsManagerClient(settings),
  };
  return {
    ...clients,
    [Symbol.dispose]: () => {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}
