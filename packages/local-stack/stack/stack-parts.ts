import { createHash, randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { AlarmNotice, AlarmState, Alarms } from "../alarms/alarms.ts";
import type { Exchange } from "../api/http-api.ts";
import type { DynamoDbEngine, RunningDynamoDb } from "../engines/dynamodb.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { AccountConcurrency } from "../lambda/account-concurrency.ts";
import type { Delay } from "../lambda/delay.ts";
import type { Credentials } from "../lambda/environment.ts";

/** Options of a stack on this machine. */
export type StackOptions = {
  readonly assembly: string;
  /** Required if the assembly holds several stacks. */
  readonly stackName?: string | undefined;
  /** Template parameters, which override the defaults. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly engine?: DynamoDbEngine;
  /** A table engine that was started earlier; its starter closes it. */
  readonly tables?: Promise<RunningDynamoDb>;
  /** Directory in which tables, queues, objects, secrets and stream positions persist between starts. */
  readonly keep?: string | undefined;
  /** Port; 0 or absent: any free port. */
  readonly apiPort?: number;
  readonly gatewayPort?: number;
  /** Directory of the functions' log files; absent: in memory only. */
  readonly logsDir?: string | undefined;
  readonly onProgress?: (text: string) => void;
  readonly onAnswered?: (exchange: Exchange) => void;
  readonly onAlarm?: (alarm: AlarmState) => void;
  readonly onNotice?: (notice: AlarmNotice) => void;
  /** Clock of the alarms, in milliseconds since 1970; absent: this machine's. */
  readonly alarmClock?: (() => number) | undefined;
  /**
   * Maximum processes for each function without reserved concurrency, 4 by default. Further invocations
   * queue, where Lambda would scale.
   */
  readonly maximumProcesses?: number;
  /** Concurrency of the account, 1000 by default; further invocations are throttled. */
  readonly accountConcurrency?: number;
  /**
   * Retention of stream records, 24 hours by default. A stage that divides its durations divides this too.
   */
  readonly streamRetentionSeconds?: number | undefined;
  /**
   * Deduplication window of FIFO queues, five minutes by default. A stage that divides its durations divides
   * this too.
   */
  readonly deduplicationSeconds?: number | undefined;
  /** Duration of long polls of up to four seconds at an empty queue; absent: as requested. Tests shorten it. */
  readonly shortPollMs?: number | undefined;
  /** Counts the capacity units of table calls; see `gateway.capacity()`. */
  readonly countsCapacity?: boolean;
  /** Waits between retries and until schedules are due. Tests pass one that does not wait. */
  readonly delay?: Delay;
};

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
