import type * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { allow } from "../function/permissions.ts";
import type { Settings } from "../settings/settings.ts";

/** The customer-managed keys. */
export type DataKeys = {
  /** Encrypts data at rest; undefined: AWS's own keys do. */
  readonly dataKey: kms.IKey | undefined;
  /** Former keys, which only decrypt. */
  readonly previousKeyArns: readonly string[];
};

/** Customer-managed key for data at rest; undefined: AWS-owned keys and SSE-SQS. */
export function dataKeyOf(scope: Construct, { encryption }: Settings): kms.IKey | undefined {
  if (encryption.keyArn === undefined) return undefined;
  return kms.Key.fromKeyArn(scope, "DataKey", encryption.keyArn);
}

const reading = ["kms:Decrypt"];
const writing = ["kms:GenerateDataKey"];

/**
 * Actions on a customer-managed key that a service performs for the caller, by the action called. Sources: the
 * developer guides of SQS ("Key management": a producer needs both), DynamoDB and Secrets Manager ("How … uses AWS
 * KMS"), the user guide of S3 ("Using server-side encryption with AWS KMS keys").
 */
const askedOfKey: Readonly<Record<string, readonly string[]>> = {
  "sqs:SendMessage": [...writing, ...reading],
  "sqs:ReceiveMessage": reading,
  "sqs:DeleteMessage": [],
  "sqs:ChangeMessageVisibility": [],
  "sqs:GetQueueAttributes": [],
  "sqs:ListQueues": [],
  "sqs:ListQueueTags": [],
  // Reads and writes both decrypt the table's own key, which DynamoDB generated when the table was created.
  "dynamodb:GetItem": reading,
  "dynamodb:BatchGetItem": reading,
  "dynamodb:Query": reading,
  "dynamodb:Scan": reading,
  "dynamodb:PutItem": reading,
  "dynamodb:UpdateItem": reading,
  "dynamodb:PartiQLInsert": reading,
  "dynamodb:PartiQLUpdate": reading,
  "dynamodb:DeleteItem": reading,
  "dynamodb:DescribeStream": [],
  "dynamodb:DescribeTable": [],
  "dynamodb:GetRecords": reading,
  "dynamodb:GetShardIterator": [],
  "dynamodb:ListStreams": [],
  "dynamodb:UpdateTable": [],
  "s3:PutObject": writing,
  "s3:GetObject": reading,
  "s3:DeleteObject": [],
  "s3:DeleteObjectVersion": [],
  "s3:ListBucket": [],
  "s3:ListBucketVersions": [],
  "secretsmanager:GetSecretValue": reading,
  "secretsmanager:PutSecretValue": [...writing, ...reading],
  "secretsmanager:UpdateSecretVersionStage": [],
  "lambda:InvokeFunction": [],
  "cloudformation:DescribeStacks": [],
  "cloudformation:UpdateTerminationProtection": [],
  // CloudWatch does not encrypt metrics with a customer-managed key.
  "cloudwatch:GetMetricData": [],
  // X-Ray encrypts traces with its own key.
  "xray:PutTelemetryRecords": [],
  "xray:PutTraceSegments": [],
};

/**
 * Permissions on the customer-managed keys that a role needs for its permissions on data: everything it needs on the
 * current key, and decryption with former keys.
 * @throws for an action that `askedOfKey` does not list
 */
export function keyPermissions(
  permissions: readonly iam.PolicyStatement[],
  { dataKey, previousKeyArns }: DataKeys,
): readonly iam.PolicyStatement[] {
  if (dataKey === undefined && previousKeyArns.length === 0) return [];
  const actions = new Set(permissions.flatMap((statement) => statement.actions).flatMap(askedBy));
  const decrypts = reading.some((action) => actions.has(action));
  return [
    ...(dataKey && actions.size > 0 ? [allow([...actions].sort(), [dataKey.keyArn])] : []),
    ...(decrypts && previousKeyArns.length > 0 ? [allow(reading, previousKeyArns)] : []),
  ];
}

function askedBy(action: string): readonly string[] {
  const asked = askedOfKey[action];
  if (asked !== undefined) return asked;
  throw new Error(`${action}: say in lib/storage/encryption.ts what it asks of a customer's key`);
}
