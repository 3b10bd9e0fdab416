import { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Deployment } from "./deployment.ts";

/** The clients of one command. Disposed, their connections are closed, so that the process can end. */
export type Clients = Disposable & {
  readonly cloudWatch: CloudWatchClient;
  readonly dynamodb: DynamoDBClient;
  readonly dynamodbStreams: DynamoDBStreamsClient;
  readonly lambda: LambdaClient;
  readonly s3: S3Client;
  readonly secretsManager: SecretsManagerClient;
  readonly sqs: SQSClient;
};

export function createClients({ client: settings }: Pick<Deployment, "client">): Clients {
  const made = new DisposableStack();
  const owned = <T extends { destroy(): void }>(client: T) => made.adopt(client, () => client.destroy());
  return {
    cloudWatch: owned(new CloudWatchClient(settings)),
    dynamodb: owned(new DynamoDBClient(settings)),
    dynamodbStreams: owned(new DynamoDBStreamsClient(settings)),
    lambda: owned(new LambdaClient(settings)),
    s3: owned(new S3Client(settings)),
    secretsManager: owned(new SecretsManagerClient(settings)),
    sqs: owned(new SQSClient(settings)),
    [Symbol.dispose]: () => made.dispose(),
  };
}
