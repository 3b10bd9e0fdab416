import { createHash } from "node:crypto";

/** Values of Ref and Fn::GetAtt for one resource. */
export type Identity = {
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
};

export type Place = { readonly stackName: string; readonly region: string; readonly account: string };

/** Resource types that this machine runs, each with the property of its physical name. */
const runTypes = {
  "AWS::ApiGatewayV2::Api": undefined,
  "AWS::ApiGatewayV2::Integration": undefined,
  "AWS::ApiGatewayV2::Route": undefined,
  "AWS::ApiGatewayV2::Stage": "StageName",
  "AWS::CloudWatch::Alarm": "AlarmName",
  "AWS::CloudWatch::CompositeAlarm": "AlarmName",
  "AWS::DynamoDB::GlobalTable": "TableName",
  "AWS::DynamoDB::Table": "TableName",
  "AWS::Events::Rule": "Name",
  "AWS::IAM::Policy": undefined,
  "AWS::IAM::Role": "RoleName",
  "AWS::KMS::Key": undefined,
  "AWS::Lambda::Alias": undefined,
  "AWS::Lambda::EventInvokeConfig": undefined,
  "AWS::Lambda::EventSourceMapping": undefined,
  "AWS::Lambda::Function": "FunctionName",
  "AWS::Lambda::Permission": undefined,
  "AWS::Lambda::Url": undefined,
  "AWS::Logs::LogGroup": "LogGroupName",
  "AWS::Logs::MetricFilter": "FilterName",
  "AWS::S3::Bucket": "BucketName",
  "AWS::S3::BucketPolicy": undefined,
  "AWS::SQS::Queue": "QueueName",
  "AWS::SQS::QueuePolicy": undefined,
  "AWS::SecretsManager::ResourcePolicy": undefined,
  "AWS::SecretsManager::Secret": "Name",
} as const satisfies Readonly<Record<string, string | undefined>>;
export type RunType = keyof typeof runTypes;

/** Types that monitor, describe or back up. They may name functions but cannot call them. */
const watchingTypes: readonly string[] = [
  "AWS::Backup::BackupPlan",
  "AWS::Backup::BackupSelection",
  "AWS::Backup::BackupVault",
  "AWS::CDK::Metadata",
  "AWS::CloudWatch::Dashboard",
  "AWS::SNS::Topic",
  "AWS::SNS::TopicPolicy",
];

/** Narrows a template's type to one that this machine runs. A function that needs any other is refused. */
export function isRunType(type: string): type is RunType {
  return Object.hasOwn(runTypes, type);
}

/** Whether resources of the type may name a function without calling it. */
export function onlyWatches(type: string): boolean {
  return watchingTypes.includes(type) || type.startsWith("Custom::");
}

/** The property that sets the physical name of a resource of this type, if it has one. */
export function nameProperty(type: RunType): string | undefined {
  return runTypes[type];
}

/**
 * Physical name of a resource that the template does not name. Unlike CloudFormation's, it has no random
 * characters.
 */
export function generatedName(
  type: RunType,
  { logicalId, isFifo }: { readonly logicalId: string; readonly isFifo: boolean },
  { stackName }: Place,
): string {
  const name = `${stackName}-${logicalId}`;
  switch (type) {
    case "AWS::S3::Bucket":
      return shorten(name.toLowerCase(), 63);
    case "AWS::Lambda::Function":
    case "AWS::IAM::Role":
    case "AWS::Events::Rule":
      return shorten(name, 64);
    case "AWS::SQS::Queue":
      return isFifo ? `${shorten(name, 75)}.fifo` : shorten(name, 80);
    case "AWS::ApiGatewayV2::Api":
    case "AWS::ApiGatewayV2::Integration":
    case "AWS::ApiGatewayV2::Route":
      return digest(name).slice(0, 10);
    case "AWS::Lambda::Url":
      return digest(name).slice(0, 32);
    case "AWS::KMS::Key":
    case "AWS::Lambda::EventSourceMapping":
      return digest(name).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
    default:
      return name;
  }
}

/**
 * Identity of a resource that its name determines. Values that an engine assigns (a queue's URL, a stream's
 * label, a secret's suffix) are placeholders of the same form until the resource exists.
 */
export function identityOf(type: RunType, name: string, { region, account }: Place): Identity {
  const arn = (service: string, resource: string): string =>
    `arn:aws:${service}:${region}:${account}:${resource}`;
  switch (type) {
    case "AWS::SQS::Queue": {
      const url = `http://queues.invalid/${account}/${name}`;
      return { ref: url, attributes: { Arn: arn("sqs", name), QueueName: name, QueueUrl: url } };
    }
    case "AWS::DynamoDB::GlobalTable":
    case "AWS::DynamoDB::Table": {
      const table = arn("dynamodb", `table/${name}`);
      return { ref: name, attributes: { Arn: table, StreamArn: `${table}/stream/2000-01-01T00:00:00.000` } };
    }
    case "AWS::S3::Bucket":
      return { ref: name, attributes: { Arn: `arn:aws:s3:::${name}` } };
    case "AWS::SecretsManager::Secret": {
      const secret = arn("secretsmanager", `secret:${name}-000000`);
      return { ref: secret, attributes: { Id: secret } };
    }
    case "AWS::KMS::Key":
      return { ref: name, attributes: { KeyId: name, Arn: arn("kms", `key/${name}`) } };
    case "AWS::Lambda::Alias":
      return { ref: arn("lambda", `function:${name}`), attributes: {} };
    case "AWS::Lambda::Function":
      return { ref: name, attributes: { Arn: arn("lambda", `function:${name}`) } };
    case "AWS::IAM::Role":
      return { ref: name, attributes: { Arn: `arn:aws:iam::${account}:role/${name}` } };
    case "AWS::Logs::LogGroup":
      return { ref: name, attributes: { Arn: arn("logs", `log-group:${name}:*`) } };
    case "AWS::Events::Rule":
      return { ref: name, attributes: { Arn: arn("events", `rule/${name}`) } };
    case "AWS::ApiGatewayV2::Api":
      return { ref: name, attributes: { ApiId: name, ApiEndpoint: executeApiOrigin(name, region) } };
    case "AWS::CloudWatch::Alarm":
    case "AWS::CloudWatch::CompositeAlarm":
      return { ref: name, attributes: { Arn: arn("cloudwatch", `alarm:${name}`) } };
    case "AWS::Lambda::EventSourceMapping":
      return { ref: name, attributes: { Id: name } };
    case "AWS::Lambda::Url":
      return { ref: name, attributes: { FunctionUrl: functionUrl(name, region) } };
    default:
      return { ref: name, attributes: {} };
  }
}

/** Origin of an HTTP API in AWS; templates build it from the API's id. */
export function executeApiOrigin(apiId: string, region: string): string {
  return `https://${apiId}.execute-api.${region}.amazonaws.com`;
}

/** URL of a function in AWS, by its id. */
export function functionUrl(id: string, region: string): string {
  return `https://${id}.lambda-url.${region}.on.aws/`;
}

function shorten(name: string, length: number): string {
  return name.length <= length ? name : `${name.slice(0, length - 9)}-${digest(name).slice(0, 8)}`;
}

function digest(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}
