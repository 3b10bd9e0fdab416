import { Duration } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { acknowledgeWildcard } from "../acknowledgements.ts";
import type { Settings } from "../settings/settings.ts";
import { type DataKeys, keyPermissions } from "../storage/encryption.ts";
import { allow, wildcardsOf } from "./permissions.ts";

/**
 * Returns the code of a function with its settings beside it.
 * @param entry file, relative to the repository; several functions can share one
 * @param name of the function, which no other has
 */
export type CodeOf = (entry: string, settings: unknown, name: string) => lambda.Code;

/** Options that all functions of a stack share. */
export type FunctionDefaults = DataKeys & {
  readonly codeOf: CodeOf;
  readonly logRetentionInDays: logs.RetentionDays;
  /** Whether Lambda logs the start and end of each invocation, and not only failures. */
  readonly logsInvocations: boolean;
  readonly tracing: Settings["tracing"];
};

type FunctionSize = {
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** Reserved concurrency, which is also the limit; absent: the function shares what others leave. */
  readonly reservedConcurrency?: number;
};

export type PipelineFunctionProps = FunctionDefaults & {
  readonly entry: string;
  /** Name in log lines, such as `store/users`; by default that of the entry file below `functions/`. */
  readonly name?: string;
  readonly description: string;
  readonly size: FunctionSize;
  /** Values that are known only at deploy time; everything else is in `settings`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: unknown;
  /** All permissions of the function, in addition to writing its own log. */
  readonly permissions: readonly iam.PolicyStatement[];
  /**
   * Why messages that the function sends to its own queue don't invoke it endlessly. If absent, Lambda stops such a
   * loop after 16 invocations. Source: Lambda developer guide, "Use Lambda recursive loop detection to prevent infinite
   * loops".
   */
  readonly loopEnds?: string;
  /** Retries by Lambda after a failed asynchronous invocation, 0 to 2 (Lambda's default). */
  readonly retryAttempts?: number;
};

/** A Lambda function with its own log group, and a role with exactly the given permissions. */
export class PipelineFunction extends Construct {
  readonly lambda: lambda.Function;
  readonly timeout: Duration;
  readonly logGroup: logs.LogGroup;
  readonly nameInLogs: string;

  constructor(scope: Construct, id: string, props: PipelineFunctionProps) {
    super(scope, id);
    this.timeout = Duration.seconds(props.size.timeoutSeconds);
    this.nameInLogs = props.name ?? nameOf(props.entry);
    this.logGroup = new logs.LogGroup(this, "Logs", {
      retention: props.logRetentionInDays,
      ...(props.dataKey && { encryptionKey: props.dataKey }),
    });
    const isTraced = props.tracing === "service";
    const permissions = isTraced ? [...props.permissions, sendTraces()] : props.permissions;
    const writeLogs = allow(["logs:CreateLogStream", "logs:PutLogEvents"], [this.logGroup.logGroupArn]);
    // Inline, so that an event source mapping never uses the role before its policy exists.
    const role = new iam.Role(this, "Role", {
      assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: {
        permissions: new iam.PolicyDocument({
          statements: [...permissions, ...keyPermissions(permissions, props), writeLogs],
        }),
      },
    });
    for (const { resource, reason } of permissions.flatMap(wildcardsOf)) {
      acknowledgeWildcard(role, resource, reason);
    }
    this.lambda = new lambda.Function(this, "Function", {
      description: props.description,
      code: props.codeOf(props.entry, props.settings, this.nameInLogs),
      handler: "index.handler",
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.size.memoryMb,
      timeout: this.timeout,
      ...(props.size.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.size.reservedConcurrency,
      }),
      environment: { FUNCTION_NAME: this.nameInLogs, ...props.environment },
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // Metric filters read lines of level INFO; a higher level would silence their alarms.
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      systemLogLevelV2: props.logsInvocations ? lambda.SystemLogLevel.INFO : lambda.SystemLogLevel.WARN,
      ...(props.loopEnds !== undefined && { recursiveLoop: lambda.RecursiveLoop.ALLOW }),
      ...(props.retryAttempts !== undefined && { retryAttempts: props.retryAttempts }),
      // The role already has the permissions for tracing, which CDK would add again in a separate policy.
      ...(isTraced ? { tracing: lambda.Tracing.ACTIVE, role: role.withoutPolicyUpdates() } : { role }),
    });
  }
}

function nameOf(entry: string): string {
  return entry.replace(/^functions\//, "").replace(/\.ts$/, "");
}

/** Permissions that Lambda needs, as the function's role, to send traces to X-Ray. */
function sendTraces(): iam.PolicyStatement {
  return allow(["xray:PutTelemetryRecords", "xray:PutTraceSegments"], ["*"]);
}
