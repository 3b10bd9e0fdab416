/** Plans data resources: queues, tables, buckets, secrets, and their policies. */

import { z } from "zod";
import { generationRules } from "../engines/secret-string.ts";
import { parsePolicy } from "../iam/policy.ts";
import { checkQueuePolicy } from "./check-queues.ts";
import { noValue, resolveValue } from "./intrinsics.ts";
import type { BucketPlan, QueuePlan, ResourcePolicyPlan, SecretPlan, TablePlan } from "./plan.ts";
import { PlanError } from "./problems.ts";
import { boolean, number, type Planner, type Properties, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

const queueSchema = z.strictObject({
  QueueName: z.string().optional(),
  ContentBasedDeduplication: boolean.optional(),
  DeduplicationScope: z.string().optional(),
  DelaySeconds: number.optional(),
  FifoQueue: boolean.optional(),
  FifoThroughputLimit: z.string().optional(),
  MaximumMessageSize: number.optional(),
  MessageRetentionPeriod: number.optional(),
  ReceiveMessageWaitTimeSeconds: number.optional(),
  RedriveAllowPolicy: z.record(z.string(), z.unknown()).optional(),
  RedrivePolicy: z.strictObject({ deadLetterTargetArn: z.string(), maxReceiveCount: number }).optional(),
  Tags: z.array(z.strictObject({ Key: z.string(), Value: z.string() })).default([]),
  VisibilityTimeout: number.optional(),
});
const encryptionOfQueues = ["KmsDataKeyReusePeriodSeconds", "KmsMasterKeyId", "SqsManagedSseEnabled"];

/** Encryption is ignored: nothing is encrypted at rest here. */
export const planQueue: Planner<QueuePlan> = (logicalId, properties, scope) => {
  const queue = parseProperties(queueSchema, properties, scope, encryptionOfQueues);
  const { QueueName: _, Tags, ...attributes } = queue;
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attribute(logicalId, "Arn"),
    visibilitySeconds: attributes.VisibilityTimeout ?? 30,
    redrive: attributes.RedrivePolicy,
    tags: Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value])),
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [
        name,
        typeof value === "object" ? JSON.stringify(value) : String(value),
      ]),
    ),
  };
};

const keysSchema = z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) }));
const indexesSchema = z
  .array(
    z.object({
      IndexName: z.string(),
      KeySchema: keysSchema,
      Projection: z.object({
        ProjectionType: z.enum(["ALL", "KEYS_ONLY", "INCLUDE"]).default("ALL"),
        NonKeyAttributes: z.array(z.string()).optional(),
      }),
    }),
  )
  .optional();
const tableSchema = z.strictObject({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(
    z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(["S", "N", "B"]) }),
  ),
  KeySchema: keysSchema,
  GlobalSecondaryIndexes: indexesSchema,
  LocalSecondaryIndexes: indexesSchema,
  StreamSpecification: z
    .object({ StreamViewType: z.enum(["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]) })
    .transform((specification) => ({ ...specification, StreamEnabled: true }))
    .optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string().optional(), Enabled: boolean }).optional(),
});
const ignoredOfTables = [
  "BillingMode",
  "ContributorInsightsSpecification",
  "DeletionProtectionEnabled",
  "OnDemandThroughput",
  "PointInTimeRecoverySpecification",
  "ProvisionedThroughput",
  "Replicas",
  "SSESpecification",
  "TableClass",
  "Tags",
  "WarmThroughput",
  "WriteOnDemandThroughputSettings",
  "WriteProvisionedThroughputSettings",
];

/**
 * Plans a table, or a global table as its replica in the stage's region. Every table is on demand here;
 * backups, encryption, deletion protection and other replicas are ignored.
 */
export const planTable: Planner<TablePlan> = (logicalId, properties, scope) => {
  const table = parseProperties(tableSchema, properties, scope, ignoredOfTables);
  const { TableName: _, TimeToLiveSpecification: timeToLive, ...definition } = table;
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attribute(logicalId, "Arn"),
    definition,
    ...(definition.StreamSpecification && { streamArn: scope.attribute(logicalId, "StreamArn") }),
    ...(timeToLive?.Enabled && { timeToLiveAttribute: timeToLive.AttributeName }),
  };
};

/**
 * Lifecycle rules, versioning and encryption are ignored. Notifications are refused: they would be an event
 * source.
 */
export const planBucket: Planner<BucketPlan> = (logicalId, properties, scope) => {
  const notifications = resolveValue(properties.NotificationConfiguration ?? noValue, scope);
  if (notifications !== noValue) {
    throw new PlanError(
      "its NotificationConfiguration is an event source that the local runner does not know",
      "Use a queue or a table's stream.",
    );
  }
  return { logicalId, name: scope.name(logicalId), arn: scope.attribute(logicalId, "Arn") };
};

const secretSchema = z.strictObject({
  Name: z.string().optional(),
  Description: z.string().optional(),
  SecretString: z.string().optional(),
  GenerateSecretString: generationRules.optional(),
});

/** The engine generates the value when it creates the secret. */
export const planSecret: Planner<SecretPlan> = (logicalId, properties, scope) => {
  const secret = parseProperties(secretSchema, properties, scope, ["KmsKeyId", "ReplicaRegions", "Tags"]);
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.identity(logicalId).ref,
    secretString: secret.SecretString,
    generate: secret.GenerateSecretString,
  };
};

const queuePolicySchema = z.strictObject({ Queues: z.array(z.string()), PolicyDocument: z.unknown() });
const bucketPolicySchema = z.strictObject({ Bucket: z.string(), PolicyDocument: z.unknown() });
const secretPolicySchema = z.strictObject({ SecretId: z.string(), ResourcePolicy: z.unknown() });

export function planQueuePolicy(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
  queues: readonly QueuePlan[],
): ResourcePolicyPlan[] {
  const parsed = parseProperties(queuePolicySchema, properties, scope);
  return parsed.Queues.map((url) => {
    const queue = queues.find((candidate) => scope.identity(candidate.logicalId).ref === url);
    if (queue === undefined) throw foreign(url);
    const policy = parsePolicy(parsed.PolicyDocument, logicalId);
    checkQueuePolicy(parsed.PolicyDocument, policy);
    return { arn: queue.arn, policy };
  });
}

export const planBucketPolicy: Planner<ResourcePolicyPlan[]> = (logicalId, properties, scope) => {
  const parsed = parseProperties(bucketPolicySchema, properties, scope);
  return [{ arn: `arn:aws:s3:::${parsed.Bucket}`, policy: parsePolicy(parsed.PolicyDocument, logicalId) }];
};

export const planSecretPolicy: Planner<ResourcePolicyPlan[]> = (logicalId, properties, scope) => {
  const parsed = parseProperties(secretPolicySchema, properties, scope, ["BlockPublicPolicy"]);
  return [{ arn: parsed.SecretId, policy: parsePolicy(parsed.ResourcePolicy, logicalId) }];
};

function foreign(url: string): PlanError {
  return new PlanError(`it is for the queue ${url}, which is not in the stack`, "Correct the reference.");
}
