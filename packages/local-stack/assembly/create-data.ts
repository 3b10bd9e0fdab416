/** Creates queues, tables, buckets and secrets in the engines, through the gateway as the operator. */

import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  QueueNameExists,
  SetQueueAttributesCommand,
  type SQSClient,
  TagQueueCommand,
} from "@aws-sdk/client-sqs";
import type { SecretsEngine } from "../engines/secrets.ts";
import type { Identity } from "./identity.ts";
import type { QueuePlan, StackPlan, TablePlan } from "./plan.ts";

export type DataEngines = {
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly secrets: SecretsEngine;
};

/**
 * Creates queues, tables, buckets and secrets.
 * @returns the identities that the engines assigned
 */
export async function createData(
  plan: StackPlan,
  engines: DataEngines,
): Promise<ReadonlyMap<string, Identity>> {
  const queues = await Promise.all(plan.queues.map((queue) => createQueue(queue, engines.sqs)));
  // Redrive policies need their dead-letter queues to exist.
  await Promise.all(
    plan.queues.map((queue, index) => setRedrive(queue, queues[index]?.[1].ref ?? "", engines.sqs)),
  );
  const tables = await Promise.all(plan.tables.map((table) => createTable(table, engines.dynamodb)));
  await Promise.all(
    plan.buckets.map(({ name }) => engines.s3.send(new CreateBucketCommand({ Bucket: name }))),
  );
  const secrets = plan.secrets.map((secret): [string, Identity] => {
    const { arn } = engines.secrets.create(secret);
    return [secret.logicalId, { ref: arn, attributes: { Id: arn } }];
  });
  return new Map([...queues, ...tables, ...secrets]);
}

const redriveAttributes = ["RedrivePolicy", "RedriveAllowPolicy"];

async function createQueue(queue: QueuePlan, sqs: SQSClient): Promise<[string, Identity]> {
  const Attributes = Object.fromEntries(
    Object.entries(queue.attributes).filter(([name]) => !redriveAttributes.includes(name)),
  );
  const url = await createOrUpdateQueue(queue.name, Attributes, sqs);
  if (Object.keys(queue.tags).length > 0)
    await sqs.send(new TagQueueCommand({ QueueUrl: url, Tags: { ...queue.tags } }));
  return [
    queue.logicalId,
    { ref: url, attributes: { Arn: queue.arn, QueueName: queue.name, QueueUrl: url } },
  ];
}

/** Gives an existing queue the template's current attributes. */
async function createOrUpdateQueue(
  QueueName: string,
  Attributes: Record<string, string>,
  sqs: SQSClient,
): Promise<string> {
  try {
    const { QueueUrl = "" } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    return QueueUrl;
  } catch (error) {
    if (!(error instanceof QueueNameExists)) throw error;
    const { QueueUrl = "" } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
    const { FifoQueue: _, ...settable } = Attributes;
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: settable }));
    return QueueUrl;
  }
}

async function setRedrive(queue: QueuePlan, url: string, sqs: SQSClient): Promise<void> {
  const Attributes = Object.fromEntries(
    Object.entries(queue.attributes).filter(([name]) => redriveAttributes.includes(name)),
  );
  if (Object.keys(Attributes).length === 0) return;
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }));
}

async function createTable(table: TablePlan, dynamodb: DynamoDBClient): Promise<[string, Identity]> {
  const stream = (await createNewTable(table, dynamodb)) ?? (await keptStream(table, dynamodb));
  const attributes = { Arn: table.arn, ...(stream !== undefined && { StreamArn: stream }) };
  return [table.logicalId, { ref: table.name, attributes }];
}

/** @returns the stream's ARN; undefined if the table already existed or has no stream */
async function createNewTable(table: TablePlan, dynamodb: DynamoDBClient): Promise<string | undefined> {
  const command = new CreateTableCommand({
    TableName: table.name,
    BillingMode: "PAY_PER_REQUEST",
    ...table.definition,
  });
  try {
    const { TableDescription: created } = await dynamodb.send(command);
    if (table.timeToLiveAttribute !== undefined) {
      const TimeToLiveSpecification = { AttributeName: table.timeToLiveAttribute, Enabled: true };
      await dynamodb.send(new UpdateTimeToLiveCommand({ TableName: table.name, TimeToLiveSpecification }));
    }
    return created?.LatestStreamArn;
  } catch (error) {
    if (error instanceof ResourceInUseException) return undefined;
    throw error;
  }
}

async function keptStream({ name }: TablePlan, dynamodb: DynamoDBClient): Promise<string | undefined> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
  return Table?.LatestStreamArn;
}
