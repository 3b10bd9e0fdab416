import type { IncomingMessage } from "node:http";
import type { SecretsEngine } from "../engines/secrets.ts";
import { cloudFormationOperation } from "./cloudformation.ts";
import { cloudWatchOperation } from "./cloudwatch.ts";
import { lambdaOperation } from "./lambda.ts";
import { logsOperation } from "./logs/logs.ts";
import { type Operation, parseJsonObject, UnknownOperationError } from "./operation.ts";
import { s3Operation } from "./s3.ts";
import { secretsManagerOperation } from "./secrets-manager.ts";
import { type QueueScope, sqsOperation } from "./sqs.ts";
import { stsOperation } from "./sts.ts";
import { dynamoDbOperation } from "./tables/dynamodb.ts";
import { streamsOperation } from "./tables/streams.ts";
import type { TableArns } from "./tables/table-arns.ts";
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

/** The service that a request is for, by its target header or its signing name; undefined for others. */
export function serviceOf(request: IncomingMessage, signingName: string): Service | undefined {
  const [prefix = ""] = targetOf(request).split(".");
  return targetPrefixes[prefix] ?? withoutTarget.find((service) => service === signingName);
}

/**
 * What a request asks for, and the permissions that it needs.
 * @throws UnknownOperationError where the gateway would have to guess
 * @throws SyntaxError where the body is no JSON
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
