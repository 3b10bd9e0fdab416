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

/** The AWS clients of one command. Disposing closes their connections, so that the process can exit. */
export type Clients = ReturnType<typeof createClients>;

/** Loads each client on first use; loading all would take longer than most commands. */
export function createClients({ client: settings }: { readonly client: Partial<Deployment["client"]> }) {
  const made: { destroy(): void }[] = [];
  const once = <T extends { destroy(): void }>(make: () => T) => {
    let client: T | undefined;
    return () => {
      if (client !== undefined) return client;
      client = make();
      made.push(client);
      return client;
    };
  };
  const cloudFormation = once(
    () => new (load("@aws-sdk/client-cloudformation").CloudFormationClient)(settings),
  );
  const cloudWatch = once(() => new (load("@aws-sdk/client-cloudwatch").CloudWatchClient)(settings));
  const logs = once(() => new (load("@aws-sdk/client-cloudwatch-logs").CloudWatchLogsClient)(settings));
  const dynamodb = once(() => new (load("@aws-sdk/client-dynamodb").DynamoDBClient)(settings));
  const streams = once(() => new (load("@aws-sdk/client-dynamodb-streams").DynamoDBStreamsClient)(settings));
  const kms = once(() => new (load("@aws-sdk/client-kms").KMSClient)(settings));
  const lambda = once(() => new (load("@aws-sdk/client-lambda").LambdaClient)(settings));
  const s3 = once(() => s3Client(load("@aws-sdk/client-s3").S3Client, settings));
  const secrets = once(() => new (load("@aws-sdk/client-secrets-manager").SecretsManagerClient)(settings));
  const quotas = once(() => new (load("@aws-sdk/client-service-quotas").ServiceQuotasClient)(settings));
  const sns = once(() => new (load("@aws-sdk/client-sns").SNSClient)(settings));
  const sqs = once(() => new (load("@aws-sdk/client-sqs").SQSClient)(settings));
  const sts = once(() => new (load("@aws-sdk/client-sts").STSClient)(settings));
  return {
    get cloudFormation() {
      return cloudFormation();
    },
    get cloudWatch() {
      return cloudWatch();
    },
    get cloudWatchLogs() {
      return logs();
    },
    get dynamodb() {
      return dynamodb();
    },
    get dynamodbStreams() {
      return streams();
    },
    get kms() {
      return kms();
    },
    get lambda() {
      return lambda();
    },
    get s3() {
      return s3();
    },
    get secretsManager() {
      return secrets();
    },
    get serviceQuotas() {
      return quotas();
    },
    get sns() {
      return sns();
    },
    get sqs() {
      return sqs();
    },
    get sts() {
      return sts();
    },
    [Symbol.dispose]: () => {
      for (const client of made.splice(0)) client.destroy();
    },
  };
}
