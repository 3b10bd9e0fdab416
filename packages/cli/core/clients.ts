import { createRequire } from "node:module";
import { s3Client } from "../../../adapters/s3/overflow-bucket.ts";
import type { Deployment } from "./deployment.ts";

type Packages = {
  readonly "@aws-sdk/client-cloudformation": typeof import("@aws-sdk/client-cloudformation");
  readonly "@aws-sdk/client-cloudwatch": typeof import("@aws-sdk/client-cloudwatch");
  readonly "@aws-sdk/client-cloudwatch-logs": typeof import("@aws-sdk/client-cloudwatch-logs");
  readonly "@aws-sdk/client-dynamodb": typeof import("@aws-sdk/client-dynamodb");
  readonly "@aws-sdk/client-dynamodb-streams": typeof import("@aws-sdk/client-dynamodb-streams");
  readonly "@aws-sdk/client-kms": typeof import("@aws-sdk/client-kms");
  readonly "@aws-sdk/client-lambda": typeof import("@aws-sdk/client-lambda");
  readonly "@aws-sdk/client-s3": typeof import("@aws-sdk/client-s3");
  readonly "@aws-sdk/client-secrets-manager": typeof import("@aws-sdk/client-secrets-manager");
  readonly "@aws-sdk/client-service-quotas": typeof import("@aws-sdk/client-service-quotas");
  readonly "@aws-sdk/client-sns": typeof import("@aws-sdk/client-sns");
  readonly "@aws-sdk/client-sqs": typeof import("@aws-sdk/client-sqs");
  readonly "@aws-sdk/client-sts": typeof import("@aws-sdk/client-sts");
};
const load: <Name extends keyof Packages>(name: Name) => Packages[Name] = createRequire(import.meta.url);

type Client = { destroy(): void };

/** The AWS clients of one command. Disposing closes their connections, so that the process can exit. */
export type Clients = ReturnType<typeof createClients>;

/** Loads each client on first use; loading all would take longer than most commands. */
export function createClients({ client: settings }: { readonly client: Partial<Deployment["client"]> }) {
  return onFirstUse({
    cloudFormation: () => new (load("@aws-sdk/client-cloudformation").CloudFormationClient)(settings),
    cloudWatch: () => new (load("@aws-sdk/client-cloudwatch").CloudWatchClient)(settings),
    cloudWatchLogs: () => new (load("@aws-sdk/client-cloudwatch-logs").CloudWatchLogsClient)(settings),
    dynamodb: () => new (load("@aws-sdk/client-dynamodb").DynamoDBClient)(settings),
    dynamodbStreams: () => new (load("@aws-sdk/client-dynamodb-streams").DynamoDBStreamsClient)(settings),
    kms: () => new (load("@aws-sdk/client-kms").KMSClient)(settings),
    lambda: () => new (load("@aws-sdk/client-lambda").LambdaClient)(settings),
    s3: () => s3Client(load("@aws-sdk/client-s3").S3Client, settings),
    secretsManager: () => new (load("@aws-sdk/client-secrets-manager").SecretsManagerClient)(settings),
    serviceQuotas: () => new (load("@aws-sdk/client-service-quotas").ServiceQuotasClient)(settings),
    sns: () => new (load("@aws-sdk/client-sns").SNSClient)(settings),
    sqs: () => new (load("@aws-sdk/client-sqs").SQSClient)(settings),
    sts: () => new (load("@aws-sdk/client-sts").STSClient)(settings),
  });
}

/** Makes each client when it is first read. */
function onFirstUse<All extends Readonly<Record<string, Client>>>(
  makers: { readonly [Name in keyof All]: () => All[Name] },
): Readonly<All> & Disposable {
  const made = new Map<string, Client>();
  const getters = Object.entries<() => Client>(makers).map(([name, make]) => {
    const get = () => {
      const client = made.get(name) ?? make();
      made.set(name, client);
      return client;
    };
    return [name, { enumerable: true, get }] as const;
  });
  const dispose = () => {
    for (const client of made.values()) client.destroy();
  };
  const disposal = { [Symbol.dispose]: { enumerable: true, value: dispose } };
  return Object.create({}, { ...Object.fromEntries(getters), ...disposal });
}
