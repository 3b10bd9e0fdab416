/** Plans of what keeps data: queues, tables, buckets, secrets, and the policies on them. */

import { z } from "zod";
import { parsePolicy } from "../iam/policy.ts";
import { checkQueuePolicy } from "./check-queues.ts";
import { noValue, resolveValue } from "./intrinsics.ts";
import type { BucketPlan, IndexPlan, QueuePlan, ResourcePolicyPlan, SecretPlan, TablePlan } from "./plan.ts";
import { PlanError } from "./problems.ts";
import { boolean, number, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

type Properties = Readonly<Record<string, unknown>>;

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
  VisibilityTimeout: number.optional(),
});
const encryptionOfQueues = ["KmsDataKeyReusePeriodSeconds", "KmsMasterKeyId", "SqsManagedSseEnabled", "Tags"];

/** Encryption and tags are left out: nothing here is encrypted at rest. */
export function planQueue(logicalId: string, properties: Properties, scope: StackScope): QueuePlan {
  const { QueueName: _, ...attributes } = parseProperties(queueSchema, properties, scope, encryptionOfQueues);
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attributeText(logicalId, "Arn"),
    visibilitySeconds: attributes.VisibilityTimeout ?? 30,
    ...(attributes.RedrivePolicy && { redrive: attributes.RedrivePolicy }),
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [
        name,
        typeof value === "object" ? JSON.stringify(value) : String(value),
      ]),
    ),
  };
}

const keysSchema = z.array(
  z
    .strictObject({ AttributeName: z.string(), KeyType: z.enum(["HASH", "RANGE"]) })
    .transform(({ AttributeName, KeyType }) => ({ name: AttributeName, type: KeyType })),
);
const indexesSchema = z
  .array(
    z
      .object({
        IndexName: z.string(),
        KeySchema: keysSchema,
        Projection: z.object({
          ProjectionType: z.enum(["ALL", "KEYS_ONLY", "INCLUDE"]).default("ALL"),
          NonKeyAttributes: z.array(z.string()).optional(),
        }),
      })
      .transform(
        ({ IndexName, KeySchema, Projection }): IndexPlan => ({
          name: IndexName,
          keys: KeySchema,
          projection: {
            type: Projection.ProjectionType,
            ...(Projection.NonKeyAttributes && { attributes: Projection.NonKeyAttributes }),
          },
        }),
      ),
  )
  .default([]);
const tableSchema = z.strictObject({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(
    z
      .strictObject({ AttributeName: z.string(), AttributeType: z.enum(["S", "N", "B"]) })
      .transform(({ AttributeName, AttributeType }) => ({ name: AttributeName, type: AttributeType })),
  ),
  KeySchema: keysSchema,
  GlobalSecondaryIndexes: indexesSchema,
  LocalSecondaryIndexes: indexesSchema,
  StreamSpecification: z
    .object({ StreamViewType: z.enum(["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]) })
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
  "SSESpecification",
  "TableClass",
  "Tags",
  "WarmThroughput",
];

/** Every table is on demand here; backups, encryption and protection against deletion have no meaning. */
export function planTable(logicalId: string, properties: Properties, scope: StackScope): TablePlan {
  const table = parseProperties(tableSchema, properties, scope, ignoredOfTables);
  const timeToLive = table.TimeToLiveSpecification;
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attributeText(logicalId, "Arn"),
    attributes: table.AttributeDefinitions,
    keys: table.KeySchema,
    globalIndexes: table.GlobalSecondaryIndexes,
    localIndexes: table.LocalSecondaryIndexes,
    ...(table.StreamSpecification && {
      streamView: table.StreamSpecification.StreamViewType,
      streamArn: scope.attributeText(logicalId, "StreamArn"),
    }),
    ...(timeToLive?.Enabled &&
      timeToLive.AttributeName !== undefined && { timeToLiveAttribute: timeToLive.AttributeName }),
  };
}

/** Life cycles, versions and encryption have no effect here; a notification would be an event source. */
export function planBucket(logicalId: string, properties: Properties, scope: StackScope): BucketPlan {
  const notifications = resolveValue(properties.NotificationConfiguration ?? noValue, scope);
  if (notifications !== noValue) {
    throw new PlanError(
      "its NotificationConfiguration is an event source that the local runner does not know",
      "Use a queue or a table's stream.",
    );
  }
  return { logicalId, name: scope.name(logicalId), arn: scope.attributeText(logicalId, "Arn") };
}

const secretSchema = z.strictObject({
  Name: z.string().optional(),
  Description: z.string().optional(),
  SecretString: z.string().optional(),
  GenerateSecretString: z
    .strictObject({
      SecretStringTemplate: z.string().optional(),
      GenerateStringKey: z.string().optional(),
      PasswordLength: number.optional(),
      ExcludeCharacters: z.string().optional(),
      ExcludePunctuation: boolean.optional(),
      ExcludeUppercase: boolean.optional(),
      ExcludeLowercase: boolean.optional(),
      ExcludeNumbers: boolean.optional(),
      IncludeSpace: boolean.optional(),
      RequireEachIncludedType: boolean.optional(),
    })
    .transform(withoutUndefined)
    .optional(),
});

/** The value itself is made by the stand-in when the secret is created. */
export function planSecret(logicalId: string, properties: Properties, scope: StackScope): SecretPlan {
  const secret = parseProperties(secretSchema, properties, scope, ["KmsKeyId", "ReplicaRegions", "Tags"]);
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.identity(logicalId).ref,
    ...(secret.SecretString !== undefined && { secretString: secret.SecretString }),
    ...(secret.GenerateSecretString && { generate: secret.GenerateSecretString }),
  };
}

type WithoutUndefined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** For exactOptionalPropertyTypes: a key that is absent, instead of one that is undefined. */
function withoutUndefined<T extends object>(value: T): WithoutUndefined<T>;
function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined));
}

const queuePolicySchema = z.strictObject({ Queues: z.array(z.string()), PolicyDocument: z.unknown() });
const bucketPolicySchema = z.strictObject({ Bucket: z.string(), PolicyDocument: z.unknown() });
const secretPolicySchema = z.strictObject({ SecretId: z.string(), ResourcePolicy: z.unknown() });

/** The policy of queues, by their URLs. */
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

/** The policy of a bucket, by its name. */
export function planBucketPolicy(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): ResourcePolicyPlan[] {
  const parsed = parseProperties(bucketPolicySchema, properties, scope);
  return [{ arn: `arn:aws:s3:::${parsed.Bucket}`, policy: parsePolicy(parsed.PolicyDocument, logicalId) }];
}

/** The policy of a secret, by its ARN. */
export function planSecretPolicy(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): ResourcePolicyPlan[] {
  const parsed = parseProperties(secretPolicySchema, properties, scope, ["BlockPublicPolicy"]);
  return [{ arn: parsed.SecretId, policy: parsePolicy(parsed.ResourcePolicy, logicalId) }];
}

function foreign(url: string): PlanError {
  return new PlanError(`it is for the queue ${url}, which is not in the stack`, "Correct the reference.");
}
