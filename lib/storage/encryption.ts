import type * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import type { Construct } from "constructs";
import { allow } from "../function/permissions.ts";
import type { Settings } from "../settings/settings.ts";

/** The customer's keys. */
export type DataKeys = {
  /** Encrypts data at rest; undefined: the keys of AWS do. */
  readonly dataKey: kms.IKey | undefined;
  /** Encrypted it before. */
  readonly previousKeyArns: readonly string[];
};

/** The customer's key for data at rest; undefined: keys that AWS owns, and SSE-SQS. */
export function dataKeyOf(scope: Construct, { encryption }: Settings): kms.IKey | undefined {
  if (encryption.keyArn === undefined) return undefined;
  return kms.Key.fromKeyArn(scope, "DataKey", encryption.keyArn);
}

const reading = ["kms:Decrypt"];
const writing = ["kms:GenerateDataKey"];

/**
 * What a service asks of a customer's key in the caller's name, by the action that is called. Sources: the
 * developer guides of SQS ("Key management": a producer needs both), DynamoDB and Secrets Manager ("How … uses
 * AWS KMS"), the user guide of S3 ("Using server-side encryption with AWS KMS keys").
 */
const askedOfKey: Readonly<Record<string, readonly string[]>> = {
  "sqs:SendMessage": [...writing, ...reading],
  "sqs:ReceiveMessage": reading,
  "sqs:DeleteMessage": [],
  "sqs:ChangeMessageVisibility": [],
  "sqs:GetQueueAttributes": [],
  "sqs:ListQueues": [],
  "sqs:ListQueueTags": [],
  // A table's own key is decrypted for reads and writes alike; DynamoDB made it when the table was created.
  "dynamodb:GetItem": reading,
  "dynamodb:BatchGetItem": reading,
  "dynamodb:Query": reading,
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
  "s3:ListBucket": [],
  "secretsmanager:GetSecretValue": reading,
  "secretsmanager:PutSecretValue": [...writing, ...reading],
  "secretsmanager:UpdateSecretVersionStage": [],
  "lambda:InvokeFunction": [],
  "cloudformation:DescribeStacks": [],
  "cloudformation:UpdateTerminationProtection": [],
  // Metrics are not encrypted with a key of the customer's.
  "cloudwatch:GetMetricData": [],
  // Traces are encrypted with X-Ray's own key.
  "xray:PutTelemetryRecords": [],
  "xray:PutTraceSegments": [],
};

/**
 * What a role must be allowed on the customer's keys for what it is allowed on data: all that it needs of the key in
 * use, and decryption with former ones.
 * @throws for an action that `askedOfKey` does not know
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
