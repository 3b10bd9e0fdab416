import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import {
  CreateQueueCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { DynamoDbEngine } from "@income-events/local-stack/engines/dynamodb.ts";
import { localAccount } from "@income-events/local-stack/engines/engine-client.ts";
import { startQueuesAndObjects } from "@income-events/local-stack/engines/queues-and-objects.ts";
import { createSecretsEngine } from "@income-events/local-stack/engines/secrets.ts";
import { startGateway } from "@income-events/local-stack/gateway/gateway.ts";
import { describe, inject } from "vitest";
import { fieldsOf, optionalText } from "../../domain/core/parse.ts";
import { shareOfTier } from "./share-of-tier.ts";
import { createTable, required } from "./test-table.ts";

export type { TestTable } from "./test-table.ts";

const region = "eu-central-1";

/** Each search of a queue ends with a long poll that finds nothing. */
export const shortPollMs = 50;

/** Real engines for one test file, behind the gateway that functions see as AWS. */
export type TestSystem = Awaited<ReturnType<typeof startTestSystem>>;

/** Fastest first. */
const engineNames: readonly DynamoDbEngine[] = ["dynoxide", "dynamodb-local"];

async function tableEngine(name: DynamoDbEngine) {
  const answer = await fetch(`${inject("tableEngineHost")}/${name}`);
  const fields = fieldsOf(await answer.json(), "the answer of the table engines' host");
  if (!answer.ok) throw new Error(optionalText(fields, "missing"));
  return { name, url: optionalText(fields, "url"), missing: optionalText(fields, "missing") };
}

/** The engine for whole stacks in tests that do not test engines. */
export async function fastEngine(): Promise<DynamoDbEngine> {
  for (const name of engineNames) if ((await tableEngine(name)).url !== undefined) return name;
  throw new Error((await tableEngine("dynamodb-local")).missing);
}

/**
 * Describes code that uses tables: in `npm test` on the fast engine, in `npm run proof` on each other one. An
 * engine that is not installed is skipped, with the reason in the title; if none is installed, that fails.
 */
export async function describeOnTables(title: string, suite: (tables: string) => void): Promise<void> {
  const fast = await fastEngine();
  const chosen = shareOfTier(
    [fast],
    engineNames.filter((name) => name !== fast),
  );
  describeOnEngines(title, await Promise.all(chosen.map(tableEngine)), suite);
}

/** Describes behaviour in which engines differ, as above, on all of them. */
export async function describeOnEachTable(title: string, suite: (tables: string) => void): Promise<void> {
  describeOnEngines(title, await Promise.all(engineNames.map(tableEngine)), suite);
}

function describeOnEngines(
  title: string,
  engines: readonly Awaited<ReturnType<typeof tableEngine>>[],
  suite: (tables: string) => void,
): void {
  if (engines.every(({ url }) => url === undefined)) throw new Error(engines[0]?.missing);
  for (const { name, url, missing } of engines) {
    if (url === undefined)
      describe.skip(`${title} on ${name} (skipped: ${missing?.split(". ")[0]})`, () => suite(""));
    else describe(`${title} on ${name}`, () => suite(url));
  }
}

const credentials = { accessKeyId: "AKIATEST000000000000", secretAccessKey: "test" };

/**
 * Starts queues, objects, secrets and the gateway for a test file, and sets the environment of a function,
 * for clients without options.
 * @param tables URL of a table engine that other files share: tables have unique names
 */
export async function startTestSystem(
  tables = "http://127.0.0.1:1",
  { countsCapacity = false }: { readonly countsCapacity?: boolean } = {},
) {
  const queues = await startQueuesAndObjects({ region, shortPollMs });
  const secrets = createSecretsEngine({ region, account: localAccount });
  const gateway = await startGateway({
    region,
    account: localAccount,
    dynamodbUrl: tables,
    queues: queues.queues,
    s3Url: queues.url,
    secrets,
    countsCapacity,
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
    /** For creating clients. */
    access: { region, endpoint: gateway.url, credentials },
    /** URLs of the engines: calls to them bypass the gateway's counts, permissions and faults. */
    engines: { tables, queuesAndObjects: queues.url },
    calls: gateway.calls,
    /** Empty unless counted. */
    capacity: gateway.capacity,
    /** Adds an interceptor; returns a function that removes it. */
    intercept: gateway.intercept,
    /**
     * Fails every call of an action, for example `sqs:SendMessageBatch`, on resources whose ARN has this
     * suffix.
     */
    fail: (action: string, resourceEnd = "") =>
      gateway.intercept(async (call, phase) =>
        phase === "before" &&
        call.action === action &&
        call.resources.some((arn) => arn.endsWith(resourceEnd))
          ? { status: 503, errorType: "ServiceUnavailable", message: "injected by the test" }
          : undefined,
      ),
    createTable: () => createTable(dynamodb, streams),
    createQueue: async (attributes: Record<string, string> = {}) => {
      const end = attributes.FifoQueue === "true" ? ".fifo" : "";
      const command = new CreateQueueCommand({
        QueueName: `q-${randomUUID()}${end}`,
        Attributes: attributes,
      });
      return required((await sqs.send(command)).QueueUrl, "QueueUrl");
    },
    createBucket: () => createBucket(s3),
    /** Creates a secret; returns its ARN. */
    createSecret: (value: unknown) =>
      secrets.create({ name: `s-${randomUUID()}`, secretString: textOf(value) }).arn,
    send: async (queueUrl: string, body: string) => {
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
    },
    /** Receives up to ten messages, which are then in flight. */
    receive,
    /** Receives all visible messages. */
    drain: async (queueUrl: string): Promise<readonly Message[]> => {
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

export type TestBucket = Awaited<ReturnType<typeof createBucket>>;

async function createBucket(s3: S3Client) {
  const name = `b-${randomUUID()}`;
  await s3.send(new CreateBucketCommand({ Bucket: name }));
  return {
    name,
    keys: async (): Promise<readonly string[]> => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: name }));
      return Contents.flatMap(({ Key }) => Key ?? []);
    },
    bytes: async (key: string) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: name, Key: key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
  };
}
