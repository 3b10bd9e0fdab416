import type { IncomingMessage } from "node:http";
import type { SecretsEngine } from "../engines/secrets.ts";
import { cloudFormationOperation } from "./cloudformation.ts";
import { cloudWatchOperation } from "./cloudwatch.ts";
import { lambdaOperation } from "./lambda.ts";
import { logsOperation } from "./logs/logs.ts";
import {
  asString,
  type JsonObject,
  type Need,
  type Operation,
  type Place,
  parseJsonObject,
  UnknownOperationError,
} from "./operation.ts";
import { stsOperation } from "./sts.ts";
import { dynamoDbOperation } from "./tables/dynamodb.ts";
import { streamsOperation, type TableArns } from "./tables/streams.ts";
import type { Service } from "./types.ts";

export type IdentifyContext = {
  readonly scope: QueueScope;
  readonly tableArns: TableArns;
  readonly secrets: SecretsEngine;
};

const targetPrefixes: Readonly<Record<string, Service>> = {
  AmazonSQS: "sqs",
  DynamoDB_20120810: "dynamodb",
  DynamoDBStreams_20120810: "streams",
  secretsmanager: "secretsmanager",
  GraniteServiceVersion20100801: "cloudwatch",
  Logs_20140328: "logs",
};

const withoutTarget = ["s3", "lambda", "sts", "cloudformation"] as const;

/** The service of a request, by its target header or signing name; undefined for unknown services. */
export function serviceOf(request: IncomingMessage, signingName: string): Service | undefined {
  const [prefix = ""] = targetOf(request).split(".");
  return targetPrefixes[prefix] ?? withoutTarget.find((service) => service === signingName);
}

/**
 * Parses a request's operation and the permissions that it needs.
 * @throws UnknownOperationError for requests that the gateway does not understand
 * @throws SyntaxError if the body is not JSON
 */
export function identify(
  request: IncomingMessage,
  body: Buffer,
  service: Service | undefined,
  context: IdentifyContext,
): Operation {
  const [, name = ""] = targetOf(request).split(".");
  const { method = "GET", url = "/", headers } = request;
  const { scope, tableArns, secrets } = context;
  const input = () => parseJsonObject(body.toString());
  switch (service) {
    case "sqs":
      return sqsOperation(name, input(), scope);
    case "dynamodb":
      return dynamoDbOperation(name, input(), tableArns);
    case "streams":
      return streamsOperation(name, input(), tableArns, scope.region);
    case "secretsmanager":
      return secretsManagerOperation(name, input(), secrets, scope);
    case "s3":
      return s3Operation(method, url, body, headers["x-amz-copy-source"]?.toString());
    case "lambda":
      return lambdaOperation(method, url, scope);
    case "cloudwatch":
      return cloudWatchOperation(name, input(), scope);
    case "sts":
      return stsOperation(body.toString());
    case "cloudformation":
      return cloudFormationOperation(body.toString(), scope);
    case "logs":
      return logsOperation(name, input(), scope);
    case undefined:
      throw new UnknownOperationError(
        targetOf(request) || `${method} ${url}`,
        `the service of ${targetOf(request) || "this request"}; it knows SQS, DynamoDB and its streams, S3, ` +
          "Secrets Manager, Lambda, CloudWatch and its logs, CloudFormation, and STS",
      );
  }
}

function targetOf(request: IncomingMessage): string {
  return request.headers["x-amz-target"]?.toString() ?? "";
}

/**
 * Known query parameters. Any other would be a subresource that turns the call into a different operation.
 */
const knownParameters = new Set([
  "continuation-token",
  "delete",
  "delimiter",
  "encoding-type",
  "fetch-owner",
  "key-marker",
  "list-type",
  "max-keys",
  "partNumber",
  "prefix",
  "start-after",
  "uploadId",
  "uploads",
  "version-id-marker",
  "versionId",
  "versions",
  "x-id",
]);

/**
 * Parses a path-style request of the REST API. Source: S3 API reference, "Required permissions" by operation.
 */
function s3Operation(
  method: string,
  target: string,
  body: Buffer,
  copySource: string | undefined,
): Operation {
  const url = new URL(target, "http://s3");
  const [bucket = "", ...keyParts] = url.pathname.slice(1).split("/").map(decodeURIComponent);
  const key = keyParts.join("/");
  const query = url.searchParams;
  const unknown = [...query.keys()].find((name) => !knownParameters.has(name));
  if (unknown !== undefined || copySource !== undefined) {
    const what = copySource === undefined ? `?${unknown}` : "copying";
    throw new UnknownOperationError(`s3:${method}`, `the S3 operation ${method} ${what}`);
  }
  if (bucket === "") return operation("ListBuckets", [{ action: "s3:ListAllMyBuckets", resource: "*" }]);
  const arn = `arn:aws:s3:::${bucket}`;
  const mark = ["uploadId", "uploads", "delete", "versions", "versionId"].find((parameter) =>
    query.has(parameter),
  );
  const plain = key === "" ? method : `${method} key`;
  const [name, permission] = s3Operations[`${plain} ${mark}`] ?? s3Operations[plain] ?? [];
  if (name === undefined || permission === undefined)
    throw new UnknownOperationError(`s3:${method}`, `the S3 method ${method}`);
  if (name === "DeleteObjects") return operation(name, deletions(arn, body));
  return operation(name, [{ action: `s3:${permission}`, resource: key === "" ? arn : `${arn}/${key}` }]);
}

function operation(name: string, needs: readonly Need[]): Operation {
  return { service: "s3", action: `s3:${name}`, needs };
}

/** Operations by method and parameter, with the permission that each needs. */
const s3Operations: Readonly<Record<string, readonly [name: string, permission: string]>> = {
  "GET key": ["GetObject", "GetObject"],
  "HEAD key": ["HeadObject", "GetObject"],
  "PUT key": ["PutObject", "PutObject"],
  "PUT key uploadId": ["UploadPart", "PutObject"],
  "POST key": ["CompleteMultipartUpload", "PutObject"],
  "POST key uploads": ["CreateMultipartUpload", "PutObject"],
  "DELETE key": ["DeleteObject", "DeleteObject"],
  "DELETE key versionId": ["DeleteObject", "DeleteObjectVersion"],
  "DELETE key uploadId": ["AbortMultipartUpload", "AbortMultipartUpload"],
  GET: ["ListObjectsV2", "ListBucket"],
  "GET versions": ["ListObjectVersions", "ListBucketVersions"],
  HEAD: ["HeadBucket", "ListBucket"],
  PUT: ["CreateBucket", "CreateBucket"],
  DELETE: ["DeleteBucket", "DeleteBucket"],
  "POST delete": ["DeleteObjects", "DeleteObject"],
};

function deletions(bucketArn: string, body: Buffer): Need[] {
  const keys = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => decodeXml(key));
  return keys.map((key) => ({ action: "s3:DeleteObject", resource: `${bucketArn}/${key}` }));
}

function decodeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (name.startsWith("#x")) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
    return entities[name] ?? whole;
  });
}

type QueueScope = Place & { readonly origin: string };

const sqsOperations: readonly string[] = [
  "ChangeMessageVisibility",
  "CreateQueue",
  "DeleteMessage",
  "DeleteQueue",
  "GetQueueAttributes",
  "GetQueueUrl",
  "ListQueueTags",
  "ListQueues",
  "PurgeQueue",
  "ReceiveMessage",
  "SendMessage",
  "SetQueueAttributes",
  "TagQueue",
  "UntagQueue",
];

/** Operations that return QueueUrls. These must name the gateway: clients send to the address in them. */
const answersWithQueueUrls = new Set(["CreateQueue", "GetQueueUrl", "ListQueues"]);

function sqsOperation(name: string, input: JsonObject, scope: QueueScope): Operation {
  // A batch needs the permission of the single operation.
  const permission = name.replace(/^(ChangeMessageVisibility|DeleteMessage|SendMessage)Batch$/, "$1");
  if (!sqsOperations.includes(permission))
    throw new UnknownOperationError(`sqs:${name}`, `the operation sqs:${name}`);
  return {
    service: "sqs",
    action: `sqs:${name}`,
    needs: [{ action: `sqs:${permission}`, resource: name === "ListQueues" ? "*" : queueArn(input, scope) }],
    ...(answersWithQueueUrls.has(name) ? { rewriteAnswer: (body) => withGatewayOrigin(body, scope) } : {}),
  };
}

function queueArn(input: JsonObject, scope: QueueScope): string {
  const url = asString(input.QueueUrl);
  if (url === "") return `arn:aws:sqs:${scope.region}:${scope.account}:${asString(input.QueueName)}`;
  const [account = "", name = ""] = url.replace(/^https?:\/\/[^/]*\//, "").split("/");
  return `arn:aws:sqs:${scope.region}:${account}:${name}`;
}

/** Replaces the origin in QueueUrls. Requests need no change: the engine finds a queue by path. */
function withGatewayOrigin(body: string, scope: QueueScope): string {
  return body.replace(/"https?:\/\/[^/"]+(\/\d{12}\/[^"/]+)"/g, (_, path: string) =>
    JSON.stringify(scope.origin + path),
  );
}

function secretsManagerOperation(
  name: string,
  input: JsonObject,
  secrets: SecretsEngine,
  scope: Place,
): Operation {
  const action = `secretsmanager:${name}`;
  const id = asString(input.SecretId) || asString(input.Name);
  const prefix = `arn:aws:secretsmanager:${scope.region}:${scope.account}:secret:`;
  const resource = secrets.arnOf(id) ?? (id.startsWith("arn:") ? id : prefix + id);
  return { service: "secretsmanager", action, needs: [{ action, resource }] };
}
