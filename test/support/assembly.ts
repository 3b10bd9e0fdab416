/** Small handwritten cloud assemblies, in the format of `cdk synth`. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Resource = {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly Condition?: string;
};
export type Resources = Readonly<Record<string, Resource>>;

export type AssemblySource = {
  readonly resources: Resources;
  /** Source of each bundle's `index.mjs`, by the asset name passed to `functionResources`. */
  readonly assets?: Readonly<Record<string, string>>;
  readonly template?: Readonly<Record<string, unknown>>;
  readonly environment?: string;
};

export type WrittenAssembly = AsyncDisposable & { readonly directory: string };

/** Writes manifest, template and bundles into a new directory. */
export async function writeAssembly(source: AssemblySource): Promise<WrittenAssembly> {
  const directory = await mkdtemp(join(tmpdir(), "assembly-"));
  const files: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(source.assets ?? {})) {
    await mkdir(join(directory, `asset.${name}`));
    await writeFile(join(directory, `asset.${name}`, "index.mjs"), text);
    files[name] = {
      source: { path: `asset.${name}`, packaging: "zip" },
      destinations: { here: { bucketName: "assets", objectKey: `${name}.zip` } },
    };
  }
  const template = { ...source.template, Resources: source.resources };
  await writeFile(join(directory, "Test.template.json"), JSON.stringify(template));
  await writeFile(join(directory, "Test.assets.json"), JSON.stringify({ version: "55.0.0", files }));
  await writeFile(
    join(directory, "manifest.json"),
    JSON.stringify({
      version: "55.0.0",
      artifacts: {
        "Test.assets": { type: "cdk:asset-manifest", properties: { file: "Test.assets.json" } },
        Test: {
          type: "aws:cloudformation:stack",
          environment: source.environment ?? "aws://unknown-account/unknown-region",
          properties: { templateFile: "Test.template.json" },
        },
      },
    }),
  );
  return {
    directory,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

export type FunctionSource = {
  readonly environment?: Readonly<Record<string, unknown>>;
  /** Allowed actions with their resource, besides writing to its own log. */
  readonly allow?: readonly (readonly [actions: string | readonly string[], resource: unknown])[];
  readonly logs?: boolean;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly asset?: string;
};

/** A function with its role and log group: `<id>`, `<id>Role`, `<id>Logs`. */
export function functionResources(id: string, source: FunctionSource = {}): Resources {
  const statements = (source.allow ?? []).map(([Action, Resource]) => ({
    Effect: "Allow",
    Action,
    Resource,
  }));
  const logging = {
    Effect: "Allow",
    Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
    Resource: { "Fn::GetAtt": [`${id}Logs`, "Arn"] },
  };
  const Statement = source.logs === false ? statements : [...statements, logging];
  return {
    [`${id}Logs`]: { Type: "AWS::Logs::LogGroup", Properties: { LogGroupName: `/test/${id}` } },
    [`${id}Role`]: {
      Type: "AWS::IAM::Role",
      Properties: {
        AssumeRolePolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            { Effect: "Allow", Action: "sts:AssumeRole", Principal: { Service: "lambda.amazonaws.com" } },
          ],
        },
        Policies:
          Statement.length === 0
            ? []
            : [{ PolicyName: "own", PolicyDocument: { Version: "2012-10-17", Statement } }],
      },
    },
    [id]: {
      Type: "AWS::Lambda::Function",
      Properties: {
        FunctionName: id,
        Runtime: "nodejs24.x",
        Handler: "index.handler",
        Code: { S3Bucket: { "Fn::Sub": `assets-\${AWS::Region}` }, S3Key: `${source.asset ?? id}.zip` },
        Role: { "Fn::GetAtt": [`${id}Role`, "Arn"] },
        Timeout: 10,
        LoggingConfig: { LogGroup: { Ref: `${id}Logs` } },
        ...(source.environment && { Environment: { Variables: source.environment } }),
        ...source.properties,
      },
    },
  };
}

/** Permissions of an event source mapping on a queue. */
export function receiving(queueId: string): readonly [readonly string[], unknown] {
  return [
    ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    { "Fn::GetAtt": [queueId, "Arn"] },
  ];
}

/** Permissions of an event source mapping on table streams, for any resource. */
export const readingStreams: readonly [readonly string[], string] = [
  ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"],
  "*",
];

/** A queue named like its id; its visibility timeout fits the functions' time-out. */
export function queueResource(id: string, properties: Readonly<Record<string, unknown>> = {}): Resources {
  return {
    [id]: {
      Type: "AWS::SQS::Queue",
      Properties: { QueueName: id, VisibilityTimeout: 10, ...properties },
    },
  };
}

/** A table with pk, sk and a stream. */
export function tableResource(id: string, properties: Readonly<Record<string, unknown>> = {}): Resources {
  return {
    [id]: {
      Type: "AWS::DynamoDB::Table",
      Properties: {
        TableName: id,
        AttributeDefinitions: [
          { AttributeName: "pk", AttributeType: "S" },
          { AttributeName: "sk", AttributeType: "S" },
        ],
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        BillingMode: "PAY_PER_REQUEST",
        StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
        ...properties,
      },
    },
  };
}

/** A mapping from a queue (`Arn`) or table (`StreamArn`) to a function. */
export function mappingResource(
  id: string,
  source: readonly [logicalId: string, attribute: "Arn" | "StreamArn"],
  functionId: string,
  properties: Readonly<Record<string, unknown>> = {},
): Resources {
  return {
    [id]: {
      Type: "AWS::Lambda::EventSourceMapping",
      Properties: {
        EventSourceArn: { "Fn::GetAtt": [...source] },
        FunctionName: { Ref: functionId },
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ...properties,
      },
    },
  };
}

/** An HTTP API `Api` with routes to functions, and a permission for each. */
export function apiResources(routes: Readonly<Record<string, string>>): Resources {
  const entries = Object.entries(routes).flatMap(([key, functionId], index) => {
    const path = key.split(" ")[1] ?? "/$default";
    const source = `arn:\${AWS::Partition}:execute-api:\${AWS::Region}:\${AWS::AccountId}:\${Api}/*/*${path}`;
    return Object.entries({
      [`Integration${index}`]: {
        Type: "AWS::ApiGatewayV2::Integration",
        Properties: {
          ApiId: { Ref: "Api" },
          IntegrationType: "AWS_PROXY",
          IntegrationUri: { "Fn::GetAtt": [functionId, "Arn"] },
          PayloadFormatVersion: "2.0",
        },
      },
      [`Route${index}`]: {
        Type: "AWS::ApiGatewayV2::Route",
        Properties: {
          ApiId: { Ref: "Api" },
          AuthorizationType: "NONE",
          RouteKey: key,
          Target: { "Fn::Join": ["", ["integrations/", { Ref: `Integration${index}` }]] },
        },
      },
      [`Permission${index}`]: {
        Type: "AWS::Lambda::Permission",
        Properties: {
          Action: "lambda:InvokeFunction",
          FunctionName: { "Fn::GetAtt": [functionId, "Arn"] },
          Principal: "apigateway.amazonaws.com",
          SourceArn: { "Fn::Sub": source },
        },
      },
    });
  });
  return {
    Api: { Type: "AWS::ApiGatewayV2::Api", Properties: { Name: "Api", ProtocolType: "HTTP" } },
    Stage: {
      Type: "AWS::ApiGatewayV2::Stage",
      Properties: { ApiId: { Ref: "Api" }, StageName: "$default", AutoDeploy: true },
    },
    ...Object.fromEntries(entries),
  };
}

/** File URL of an installed package, for bundles outside the repository. */
export function packageUrl(name: string): string {
  return import.meta.resolve(name);
}
