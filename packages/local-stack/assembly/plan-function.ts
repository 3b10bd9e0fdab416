/** Plans functions with the permissions of their roles. */

import { existsSync } from "node:fs";
import { z } from "zod";
import { decide } from "../iam/evaluate.ts";
import { type Policy, parsePolicy } from "../iam/policy.ts";
import { logLevels } from "../lambda/log-level.ts";
import { resolveValue } from "./intrinsics.ts";
import type { FunctionPlan } from "./plan.ts";
import { PlanError } from "./problems.ts";
import { number, type Planner, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

const functionSchema = z.strictObject({
  Architectures: z.array(z.string()).optional(),
  Code: z.strictObject({ S3Bucket: z.string(), S3Key: z.string() }),
  Environment: z
    .strictObject({
      Variables: z
        .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
        .optional(),
    })
    .optional(),
  FunctionName: z.string().optional(),
  Handler: z.string(),
  LoggingConfig: z
    .strictObject({
      ApplicationLogLevel: z.enum(logLevels).default("INFO"),
      LogFormat: z.enum(["Text", "JSON"]).default("Text"),
      LogGroup: z.string().optional(),
      // The runner writes only the failures of Lambda's system log.
      SystemLogLevel: z.enum(["DEBUG", "INFO", "WARN"]).optional(),
    })
    .prefault({}),
  MemorySize: number.default(128),
  PackageType: z.literal("Zip").optional(),
  RecursiveLoop: z.enum(["Allow", "Terminate"]).optional(),
  ReservedConcurrentExecutions: number.optional(),
  Role: z.string(),
  Runtime: z.string(),
  Timeout: number.default(3),
});
const ignoredOfFunctions = [
  "Description",
  "EphemeralStorage",
  "RuntimeManagementConfig",
  "Tags",
  "TracingConfig",
];

/** Only the latest code runs here, so an alias of any other version is refused. */
const aliasSchema = z.strictObject({
  FunctionName: z.string(),
  FunctionVersion: z.literal("$LATEST"),
  Name: z.string().regex(/^(?!\d+$)[\w-]{1,128}$/),
});

/** Returns the ARN of an alias. */
export const planAlias: Planner<string> = (logicalId, properties, scope) => {
  parseProperties(aliasSchema, properties, scope, ["Description"]);
  return scope.identity(logicalId).ref;
};

const environmentBytes = 4096;

/** Runtimes that run on the current Node. */
const runtimes: readonly string[] = ["nodejs22.x", "nodejs24.x"];

type InvokeConfig = { readonly maximumRetryAttempts: number; readonly maximumEventAgeSeconds: number };

/**
 * @param assets directories of the assembly's file assets, by object key
 * @param invokeConfig settings of AWS::Lambda::EventInvokeConfig for the function
 * @param aliases ARNs of all aliases of the stack
 */
export function planFunction(
  logicalId: string,
  scope: StackScope,
  assets: ReadonlyMap<string, string>,
  {
    invokeConfig,
    aliases,
  }: { readonly invokeConfig: InvokeConfig | undefined; readonly aliases: readonly string[] },
): FunctionPlan {
  const properties = scope.resources.get(logicalId)?.Properties ?? {};
  const parsed = parseProperties(functionSchema, properties, scope, ignoredOfFunctions);
  if (!runtimes.includes(parsed.Runtime)) {
    throw new PlanError(
      `its runtime ${parsed.Runtime} can't run here`,
      `Use one of ${runtimes.join(", ")}, or leave the function out of the stack that runs here.`,
    );
  }
  const name = scope.name(logicalId);
  const arn = scope.attribute(logicalId, "Arn");
  const aliasArns = aliases.filter((alias) => alias.startsWith(`${arn}:`));
  const { LoggingConfig } = parsed;
  const environment = parsed.Environment?.Variables ?? {};
  checkEnvironment(environment);
  return {
    logicalId,
    name,
    arn,
    ...(aliasArns.length > 0 && { aliasArns }),
    roleArn: parsed.Role,
    policies: rolePolicies(parsed.Role, scope),
    directory: assetDirectory(parsed.Code.S3Key, assets),
    handler: parsed.Handler,
    environment,
    timeoutSeconds: parsed.Timeout,
    memoryMb: parsed.MemorySize,
    reservedConcurrency: parsed.ReservedConcurrentExecutions,
    ...(parsed.RecursiveLoop === "Allow" && { recursiveLoop: parsed.RecursiveLoop }),
    logGroupName: LoggingConfig.LogGroup ?? `/aws/lambda/${name}`,
    ...(LoggingConfig.LogFormat === "JSON" && { jsonLog: { level: LoggingConfig.ApplicationLogLevel } }),
    ...(invokeConfig ?? { maximumRetryAttempts: 2, maximumEventAgeSeconds: 21_600 }),
  };
}

/**
 * Source: Lambda developer guide, "Lambda quotas". Names that CloudFormation generates are longer than local
 * ones.
 */
function checkEnvironment(environment: FunctionPlan["environment"]): void {
  const bytes = Buffer.byteLength(JSON.stringify(environment));
  if (bytes <= environmentBytes) return;
  throw new PlanError(
    `its environment has ${bytes} bytes, and Lambda takes ${environmentBytes} in all`,
    "Set fewer or shorter variables.",
  );
}

function assetDirectory(key: string, assets: ReadonlyMap<string, string>): string {
  const directory = assets.get(key);
  if (directory !== undefined && existsSync(directory)) return directory;
  throw new PlanError(
    `its asset ${directory ?? key} is missing`,
    "Synthesize the assembly again, and copy it whole.",
  );
}

const invokeConfigSchema = z.strictObject({
  FunctionName: z.string(),
  Qualifier: z.string().optional(),
  MaximumRetryAttempts: number.default(2),
  MaximumEventAgeInSeconds: number.default(21_600),
});

/** Plans the settings of a function's asynchronous invocations. */
export const planInvokeConfig: Planner<InvokeConfig & { readonly functionName: string }> = (
  _,
  properties,
  scope,
) => {
  const parsed = parseProperties(invokeConfigSchema, properties, scope);
  return {
    functionName: parsed.FunctionName,
    maximumRetryAttempts: parsed.MaximumRetryAttempts,
    maximumEventAgeSeconds: parsed.MaximumEventAgeInSeconds,
  };
};

const roleSchema = z.strictObject({
  AssumeRolePolicyDocument: z.unknown(),
  ManagedPolicyArns: z.array(z.string()).default([]),
  Policies: z.array(z.strictObject({ PolicyName: z.string(), PolicyDocument: z.unknown() })).default([]),
  RoleName: z.string().optional(),
});
const attachedPolicySchema = z.strictObject({
  PolicyName: z.string(),
  PolicyDocument: z.unknown(),
  Roles: z.array(z.string()).default([]),
});

/** AWSLambdaBasicExecutionRole as AWS publishes it; CDK attaches it to functions by default. */
const basicExecution = {
  arn: "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
  document: {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
        Resource: "*",
      },
    ],
  },
};

function rolePolicies(roleArn: string, scope: StackScope): Policy[] {
  const roleId = roleIdOf(roleArn, scope);
  const role = parseProperties(roleSchema, scope.resources.get(roleId)?.Properties ?? {}, scope, [
    "Description",
    "MaxSessionDuration",
    "Path",
    "Tags",
  ]);
  requireLambdaTrust(roleId, roleArn, role.AssumeRolePolicyDocument);
  return [
    ...role.Policies.map(({ PolicyName, PolicyDocument }) =>
      parsePolicy(PolicyDocument, `${roleId} policy ${PolicyName}`),
    ),
    ...role.ManagedPolicyArns.map((arn) => managedPolicy(roleId, arn)),
    ...attachedPolicies(scope.identity(roleId).ref, scope),
  ];
}

function roleIdOf(roleArn: string, scope: StackScope): string {
  for (const [logicalId, { Type }] of scope.resources) {
    if (Type === "AWS::IAM::Role" && scope.attribute(logicalId, "Arn") === roleArn) return logicalId;
  }
  throw new PlanError(
    `its role ${roleArn} is not in the stack`,
    "Define the role in the stack, so that its permissions can be evaluated.",
  );
}

function requireLambdaTrust(roleId: string, roleArn: string, document: unknown): void {
  const trust = parsePolicy(document, `${roleId} AssumeRolePolicyDocument`);
  const request = {
    principal: "lambda.amazonaws.com",
    action: "sts:AssumeRole",
    resource: roleArn,
    context: {},
  };
  if (decide(request, [], trust).allowed) return;
  throw new PlanError(
    `its role ${roleId} does not let lambda.amazonaws.com assume it`,
    "Allow sts:AssumeRole to lambda.amazonaws.com in AssumeRolePolicyDocument.",
  );
}

function managedPolicy(roleId: string, arn: string): Policy {
  if (arn === basicExecution.arn) {
    return parsePolicy(basicExecution.document, `${roleId} AWSLambdaBasicExecutionRole`);
  }
  throw new PlanError(
    `its role ${roleId} has the managed policy ${arn}, whose content is not known here`,
    "Write the permissions into a policy of the stack.",
  );
}

function attachedPolicies(roleName: string, scope: StackScope): Policy[] {
  return [...scope.resources].flatMap(([logicalId, { Type, Properties }]) => {
    if (Type !== "AWS::IAM::Policy") return [];
    const roles = resolveValue(Properties.Roles ?? [], scope);
    if (!Array.isArray(roles) || !roles.includes(roleName)) return [];
    const policy = parseProperties(attachedPolicySchema, Properties, scope);
    return [parsePolicy(policy.PolicyDocument, logicalId)];
  });
}
