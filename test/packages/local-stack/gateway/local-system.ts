import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { STSClient } from "@aws-sdk/client-sts";
import type { AlarmState } from "@income-events/local-stack/alarms/alarms.ts";
import { localAccount } from "@income-events/local-stack/engines/engine-client.ts";
import { startQueuesAndObjects } from "@income-events/local-stack/engines/queues-and-objects.ts";
import { createSecretsEngine, type SecretsEngine } from "@income-events/local-stack/engines/secrets.ts";
import type { Gateway } from "@income-events/local-stack/gateway/gateway.ts";
import { type GatewayOptions, startGateway } from "@income-events/local-stack/gateway/gateway.ts";
import type { Principal } from "@income-events/local-stack/gateway/types.ts";
import { type Policy, parsePolicy } from "@income-events/local-stack/iam/policy.ts";

export const region = "eu-central-1";
export const account = localAccount;
export const queueArn = `arn:aws:sqs:${region}:${account}:work`;

export type LocalSystem = {
  readonly gateway: Gateway;
  readonly secrets: SecretsEngine;
  readonly operator: Principal;
  /** Registers a caller with these allow statements, [action, resource] each. */
  caller(name: string, ...allowed: (readonly [string, string])[]): Principal;
  close(): Promise<void>;
};

/** A gateway with real engines; without the URL of one, calls to tables find none. */
export async function startLocalSystem(
  options: { tables?: string; keep?: string; engines?: Partial<GatewayOptions> } = {},
): Promise<LocalSystem> {
  const queues = await startQueuesAndObjects({ region, ...(options.keep && { keep: options.keep }) });
  const secrets = createSecretsEngine({ region, account });
  const gateway = await startGateway({
    region,
    account,
    dynamodbUrl: options.tables ?? "http://127.0.0.1:1",
    queues: queues.queues,
    s3Url: queues.url,
    secrets,
    ...options.engines,
  });
  const operator = principal("operator", "all");
  gateway.register(operator);
  return {
    gateway,
    secrets,
    operator,
    caller: (name, ...allowed) => {
      const caller = principal(name, allowed.length === 0 ? [] : [allow(name, allowed)]);
      gateway.register(caller);
      return caller;
    },
    close: async () => {
      await gateway.close();
      await queues.close();
    },
  };
}

type Monitored = NonNullable<ReturnType<NonNullable<GatewayOptions["alarms"]>>>;

/** Alarms in these states, without other metrics. */
export function monitored(alarms: readonly AlarmState[], others: Partial<Monitored> = {}): Monitored {
  return { refresh: async () => alarms, sums: () => new Map(), percentiles: () => new Map(), ...others };
}

function allow(where: string, allowed: readonly (readonly [string, string])[]): Policy {
  const statements = allowed.map(([action, resource]) => ({
    Effect: "Allow",
    Action: action,
    Resource: resource,
  }));
  return parsePolicy({ Version: "2012-10-17", Statement: statements }, where);
}

function principal(name: string, policies: Principal["policies"]): Principal {
  const accessKeyId = `AKIA${Buffer.from(name).toString("hex").toUpperCase().padEnd(16, "0")}`;
  return {
    name,
    arn: `arn:aws:iam::${account}:role/${name}`,
    accessKeyId,
    secretAccessKey: `secret of ${name}`,
    policies,
  };
}

/** @returns the ARN of the new table's stream */
export async function createTable(
  system: LocalSystem,
  TableName: string,
  ...keys: string[]
): Promise<string> {
  const { TableDescription } = await clients(system, system.operator).dynamodb.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: keys.map((AttributeName, index) => ({
        AttributeName,
        KeyType: index === 0 ? "HASH" : "RANGE",
      })),
      AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    }),
  );
  return TableDescription?.LatestStreamArn ?? "";
}

/** @returns the new queue's URL */
export async function createQueue(
  system: LocalSystem,
  QueueName: string,
  Attributes: Record<string, string> = {},
): Promise<string> {
  const { sqs } = clients(system, system.operator);
  return (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? "";
}

/** SDK clients as a function has them: one endpoint for all services, no other settings. */
export function clients(system: LocalSystem, caller: Principal) {
  const settings = {
    region,
    endpoint: system.gateway.url,
    credentials: { accessKeyId: caller.accessKeyId, secretAccessKey: caller.secretAccessKey },
    maxAttempts: 1,
  };
  return {
    sqs: new SQSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    s3: new S3Client(settings),
    secrets: new SecretsManagerClient(settings),
    lambda: new LambdaClient(settings),
    sts: new STSClient(settings),
    cloudFormation: new CloudFormationClient(settings),
    cloudwatch: new CloudWatchClient(settings),
    logs: new CloudWatchLogsClient(settings),
    streams: new DynamoDBStreamsClient(settings),
  };
}
