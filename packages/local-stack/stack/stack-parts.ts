import { createHash, randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Alarms } from "../alarms/alarms.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { AccountConcurrency } from "../lambda/account-concurrency.ts";
import type { Delay } from "../lambda/delay.ts";
import type { Credentials } from "../lambda/environment.ts";
import type { StackOptions } from "./local-stack.ts";

export type StackParts = {
  readonly gateway: Gateway;
  readonly alarms: Alarms;
  readonly account: AccountConcurrency;
  readonly options: StackOptions;
  readonly delay: Delay;
  /** Called with errors of event sources, failure destinations or log files. */
  readonly onProblem: (message: string) => void;
  readonly cleanup: AsyncDisposableStack;
};

/** Creates credentials whose access key has letters and digits only; the gateway identifies callers by it. */
export function newCredentials(name: string): Credentials {
  const digest = createHash("sha256").update(name).digest("hex").toUpperCase();
  return { accessKeyId: `LOCAL${digest.slice(0, 15)}`, secretAccessKey: randomUUID() };
}

export function clientSettings(gateway: Gateway, credentials: Credentials) {
  return { region: gateway.region, endpoint: gateway.url, credentials };
}

/** Creates clients of one caller, destroyed with the stack. */
export function clientsFor(gateway: Gateway, credentials: Credentials, cleanup: AsyncDisposableStack) {
  const settings = clientSettings(gateway, credentials);
  const clients = {
    sqs: new SQSClient(settings),
    dynamodb: new DynamoDBClient(settings),
    streams: new DynamoDBStreamsClient(settings),
    s3: new S3Client(settings),
  };
  cleanup.defer(() => {
    for (const client of Object.values(clients)) client.destroy();
  });
  return clients;
}

export type Clients = ReturnType<typeof clientsFor>;
