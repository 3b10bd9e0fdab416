import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from "@aws-sdk/client-dynamodb-streams";
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import {
  CreateQueueCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { localAccount } from "@income-events/local-stack/engines/account.ts";
import type { DynamoDbEngine } from "@income-events/local-stack/engines/dynamodb.ts";
import { startQueuesAndObjects } from "@income-events/local-stack/engines/queues-and-objects.ts";
import { createSecretsEngine, type SecretsEngine } from "@income-events/local-stack/engines/secrets.ts";
import { startGateway } from "@income-events/local-stack/gateway/gateway.ts";
import type { Gateway, Interceptor } from "@income-events/local-stack/gateway/types.ts";
import { describe, inject } from "vitest";
import { fieldsOf, optionalText } from "../../domain/core/parse.ts";

const region = "eu-central-1";

/** Real engines for one test file, behind the gateway that functions see as AWS. */
export type TestSystem = {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly s3: S3Client;
  readonly secretsManager: SecretsManagerClient;
  readonly secrets: SecretsEngine;
  readonly calls: Gateway["calls"];
  /** Injects faults; the result ends that. */
  readonly intercept: (interceptor: Interceptor) => () => void;
  /** Fails every call of an action, for example `sqs:SendMessageBatch`, on a resource whose ARN ends so. */
  readonly fail: (action: string, resourceEnd?: string) => () => void;
  readonly createTable: () => Promise<TestTable>;
  readonly createQueue: (attributes?: Record<string, string>) => Promise<string>;
  readonly createBucket: () => Promise<TestBucket>;
  /** Creates a secret; answers its ARN. */
  readonly createSecret: (value: unknown) => string;
  readonly send: (queueUrl: string, body: string) => Promise<void>;
  /** Receives up to ten messages, which then are in flight. */
  readonly receive: (queueUrl: string) => Promise<readonly Message[]>;
  /** Receives all messages that can be received now. */
  readonly drain: (queueUrl: string) => Promise<readonly Message[]>;
  readonly close: () => Promise<void>;
};

export type TestTable = {
  readonly name: string;
  readonly item: (pk: string, sk: string) => Promise<Record<string, unknown> | undefined>;
  readonly items: (pk: string) => Promise<readonly Record<string, unknown>[]>;
  readonly all: () => Promise<readonly Record<string, unknown>[]>;
  /** All records of the table's stream so far, oldest first. */
  readonly stream: () => Promise<readonly _Record[]>;
};

export type TestBucket = {
  readonly name: string;
  readonly keys: () => Promise<readonly string[]>;
  readonly bytes: (key: string) => Promise<Buffer>;
};

const engineNames: readonly DynamoDbEngine[] = ["dynamodb-local", "dynoxide"];

type EngineAnswer = { readonly url: string | undefined; readonly missing: string | undefined };

async function tableEngine(name: DynamoDbEngine): Promise<EngineAnswer> {
  const answer = await fetch(`${inject("tableEngineHost")}/${name}`);
  const fields = fieldsOf(await answer.json(), "the answer of the table engines' host");
  if (!answer.ok) throw new Error(optionalText(fields, "missing"));
  return { url: optionalText(fields, "url"), missing: optionalText(fields, "missing") };
}

/**
 * Describes a behaviour once for each table engine. An engine that is not installed is skipped, with the reason
 * in the title; where there is none at all, that fails.
 */
export async function describeOnTables(title: string, suite: (tables: string) => void): Promise<void> {
  const answers = await Promise.all(engineNames.map(tableEngine));
  if (answers.every(({ url }) => url === undefined)) throw new Error(answers[0]?.missing);
  for (const [index, name] of engineNames.entries()) {
    const url = answers[index]?.url;
    const missing = answers[index]?.missing;
    if (url === undefined)
      describe.skip(`${title} on ${name} (skipped: ${missing?.split(". ")[0]})`, () => suite(""));
    else describe(`${title} on ${name}`, () => suite(url));
  }
}

const credentials = { accessKeyId: "AKIATEST000000000000", secretAccessKey: "test" };

/**
 * Starts queues, objects, secrets and the gateway of a test file. Sets the environment as a function has it, for
 * clients that are made from it alone.
 * @param tables the address of a table engine, which other files use too: tables have names of their own
 */
export async function startTestSystem(tables = "http://127.0.0.1:1"): Promise<TestSystem> {
  const queues = await startQueuesAndObjects({ region });
  const secrets = createSecretsEngine({ region, account: localAccount });
  const gateway = await startGateway({
    region,
    account: localAccount,
    dynamodbUrl: tables,
    sqsUrl: queues.sqsUrl,
    s3Url: queues.s3Url,
    secrets,
  });
  const arn = `arn:aws:iam::${localAccount}:role/test`;
  gateway.register({ name: "test", arn, ...credentials, policies: "all" });
  const restore = setEnvironment({
    AWS_ENDPOINT_URL: gateway.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_MAX_ATTEMPTS: "1",
  });
  const settings = { region, endpoint: gateway.url, credentials, maxAttempts: 1 };
  const dynamodb = new DynamoDBClient(settings);
  const streams = new DynamoDBStreamsClient(settings);
  const sqs = new SQSClient(settings);
  const s3 = new S3Client(settings);
  const secretsManager = new SecretsManagerClient(settings);
  const receive = (queueUrl: string) => receiveMessages(sqs, queueUrl);
  return {
    dynamodb,
    sqs,
    s3,
    secretsManager,
    secrets,
    calls: gateway.calls,
    intercept: gateway.intercept,
    fail: (action, resourceEnd = "") =>
      gateway.intercept(async (call, moment) =>
        moment === "before" &&
        call.action === action &&
        call.resources.some((arn) => arn.endsWith(resourceEnd))
          ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
          : undefined,
      ),
    createTable: () => createTable(dynamodb, streams),
    createQueue: async (attributes = {}) => {
      const command = new CreateQueueCommand({ QueueName: `q-${randomUUID()}`, Attributes: attributes });
      return required((await sqs.send(command)).QueueUrl, "QueueUrl");
    },
    createBucket: () => createBucket(s3),
    createSecret: (value) => secrets.create({ name: `s-${randomUUID()}`, secretString: textOf(value) }).arn,
    send: async (queueUrl, body) => {
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
    },
    receive,
    drain: async (queueUrl) => {
      const all: Message[] = [];
      for (let some = await receive(queueUrl); some.length > 0; some = await receive(queueUrl))
        all.push(...some);
      return all;
    },
    close: async () => {
      restore();
      for (const client of [dynamodb, streams, sqs, s3, secretsManager]) client.destroy();
      await gateway.close();
      await queues.close();
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function setEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

async function receiveMessages(sqs: SQSClient, queueUrl: string): Promise<readonly Message[]> {
  const command = new ReceiveMessageCommand({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ["All"],
    MessageSystemAttributeNames: ["All"],
    WaitTimeSeconds: 0,
  });
  return (await sqs.send(command)).Messages ?? [];
}

async function createTable(dynamodb: DynamoDBClient, streams: DynamoDBStreamsClient): Promise<TestTable> {
  const name = `t-${randomUUID()}`;
  const { TableDescription } = await dynamodb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    }),
  );
  const streamArn = required(TableDescription?.LatestStreamArn, "LatestStreamArn");
  return {
    name,
    item: async (pk, sk) => {
      const { Item } = await dynamodb.send(
        new GetItemCommand({ TableName: name, Key: marshall({ pk, sk }), ConsistentRead: true }),
      );
      return Item && unmarshall(Item);
    },
    items: async (pk) => {
      const { Items = [] } = await dynamodb.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: marshall({ ":pk": pk }),
          ConsistentRead: true,
        }),
      );
      return Items.map((item) => unmarshall(item));
    },
    all: async () => {
      const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: name, ConsistentRead: true }));
      return Items.map((item) => unmarshall(item));
    },
    stream: streamReader(streams, streamArn),
  };
}

/** Reads a stream from where the last reading ended; answers all its records so far, oldest first. */
function streamReader(streams: DynamoDBStreamsClient, StreamArn: string) {
  const read: _Record[] = [];
  const iterators = new Map<string, string | undefined>();
  const startOf = async (ShardId: string | undefined) => {
    const start = { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" as const };
    return (await streams.send(new GetShardIteratorCommand(start))).ShardIterator;
  };
  return async (): Promise<readonly _Record[]> => {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
    for (const { ShardId = "" } of StreamDescription?.Shards ?? []) {
      // An open shard has a next iterator for ever: an empty answer is its present end.
      let iterator = iterators.has(ShardId) ? iterators.get(ShardId) : await startOf(ShardId);
      while (iterator !== undefined) {
        const { Records = [], NextShardIterator } = await streams.send(
          new GetRecordsCommand({ ShardIterator: iterator }),
        );
        read.push(...Records);
        iterators.set(ShardId, NextShardIterator);
        iterator = Records.length === 0 ? undefined : NextShardIterator;
      }
    }
    return [...read];
  };
}

async function createBucket(s3: S3Client): Promise<TestBucket> {
  const name = `b-${randomUUID()}`;
  await s3.send(new CreateBucketCommand({ Bucket: name }));
  return {
    name,
    keys: async () => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: name }));
      return Contents.flatMap(({ Key }) => Key ?? []);
    },
    bytes: async (key) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: name, Key: key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
  };
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the engine gave no ${name}`);
  return value;
}
