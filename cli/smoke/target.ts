import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { type StoredEvents, storedEvents } from "../../adapters/stored-events.ts";
import { webhookSecretStore } from "../../adapters/webhook-secret.ts";
import type { Kind } from "../../domain/events.ts";
import { parseJson } from "../../domain/parse.ts";
import type { WebhookSecret } from "../../domain/webhook-secret.ts";
import { CommandError } from "../command-error.ts";
import type { Deployment } from "../deployment.ts";
import { chooseSubscribers, parseSubscriberQueues, type SubscriberChoice } from "./subscribers.ts";

/** All that a run knows of the stage: its outputs, and what they name. */
export type Target = Disposable & {
  readonly stage: string;
  readonly webhooksUrl: string;
  readonly secretHeader: string;
  readonly secret: WebhookSecret;
  readonly deadLetterQueueUrl: (kind: Kind) => string;
  readonly subscribers: SubscriberChoice;
  readonly sqs: SQSClient;
  readonly stored: StoredEvents;
};

/** What an erasure needs. */
export type Storage = Disposable & {
  readonly stored: StoredEvents;
  readonly s3: S3Client;
  readonly bucketName: string;
};

const deadLetterOutputs: Readonly<Record<Kind, string>> = {
  users: "UsersDeadLetterQueueUrl",
  accounts: "AccountsDeadLetterQueueUrl",
  endpoints: "EndpointsDeadLetterQueueUrl",
  "company-accounts": "CompanyAccountsDeadLetterQueueUrl",
};

/**
 * Reads what the outputs name, before anything is sent.
 * @param names the subscribers whose queues may be read; none: the one named `smoke`, and on this machine all
 * @throws CommandError where the stage can't be tested as it is
 */
export async function openTarget(deployment: Deployment, names: readonly string[]): Promise<Target> {
  const { stage, client, output } = deployment;
  const subscribers = parseSubscriberQueues(parseJson(output("Subscribers"), "the output Subscribers"));
  const chosen = chooseSubscribers(subscribers, names, client.endpoint !== undefined);
  const tableName = output("TableName");
  const queues = {
    webhooksUrl: output("WebhooksUrl"),
    secretHeader: output("WebhookSecretHeader"),
    deadLetterQueueUrl: (kind: Kind) => output(deadLetterOutputs[kind]),
  };
  const secret = await readSecret(deployment);
  const sqs = new SQSClient(client);
  const dynamodb = new DynamoDBClient(client);
  return {
    stage,
    ...queues,
    secret,
    subscribers: chosen,
    sqs,
    stored: storedEvents(dynamodb, tableName),
    [Symbol.dispose]: () => {
      sqs.destroy();
      dynamodb.destroy();
    },
  };
}

export function openStorage({ client, output }: Deployment): Storage {
  const dynamodb = new DynamoDBClient(client);
  const s3 = new S3Client(client);
  return {
    stored: storedEvents(dynamodb, output("TableName")),
    s3,
    bucketName: output("OverflowBucketName"),
    [Symbol.dispose]: () => {
      dynamodb.destroy();
      s3.destroy();
    },
  };
}

async function readSecret({ stage, client, output }: Deployment): Promise<WebhookSecret> {
  const secrets = new SecretsManagerClient(client);
  try {
    const { secret } = await webhookSecretStore(secrets, output("WebhookSecretArn")).read();
    if (secret !== undefined) return secret;
    throw new CommandError("noDeployment", `The webhook secret of the stage ${stage} is empty.`);
  } finally {
    secrets.destroy();
  }
}
