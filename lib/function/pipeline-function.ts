import { Duration } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { acknowledgeWildcard } from "../acknowledgements.ts";
import type { Settings } from "../settings/settings.ts";
import { type DataKeys, keyPermissions } from "../storage/encryption.ts";
import { nameOf } from "./entry-name.ts";
import { allow, wildcardsOf } from "./permissions.ts";

/** The code of an entry file (relative to the repository), with the settings that it reads beside it. */
export type CodeOf = (entry: string, settings: unknown) => lambda.Code;

/** What all functions of a stack share. */
export type FunctionDefaults = DataKeys & {
  readonly codeOf: CodeOf;
  readonly logRetentionInDays: logs.RetentionDays;
  /** Whether Lambda's own lines about each invocation are in the log, not those about failures only. */
  readonly logsInvocations: boolean;
  readonly tracing: Settings["tracing"];
};

type FunctionSize = {
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** Kept for it, and the most that it takes; absent: what others leave of the account's. */
  readonly reservedConcurrency?: number;
};

export type PipelineFunctionProps = FunctionDefaults & {
  readonly entry: string;
  readonly description: string;
  readonly size: FunctionSize;
  /** Values that are known at deploy time only; all else is in `settings`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly settings: unknown;
  /** All that it may do, besides writing to its own log. */
  readonly permissions: readonly iam.PolicyStatement[];
  /**
   * What ends it that the function is invoked again and again by what it sends to its own queue. Absent: Lambda ends it
   * after 16 times. Source: Lambda developer guide, "Use Lambda recursive loop detection to prevent infinite loops".
   */
  readonly loopEnds?: string;
  /** Retries of Lambda itself after a failed asynchronous invocation, 0 to 2 (its default). */
  readonly retryAttempts?: number;
};

/** A Lambda function with a log group and a role of its own; the role has exactly the given permissions. */
export class PipelineFunction extends Construct {
  readonly lambda: lambda.Function;
  readonly timeout: Duration;
  readonly logGroup: logs.LogGroup;
  /** As its log lines call it: `store/users`. */
  readonly entryName: string;

  constructor(scope: Construct, id: string, props: PipelineFunctionProps) {
    super(scope, id);
    this.timeout = Duration.seconds(props.size.timeoutSeconds);
    this.entryName = nameOf(props.entry);
    this.logGroup = new logs.LogGroup(this, "Logs", {
      retention: props.logRetentionInDays,
      ...(props.dataKey && { encryptionKey: props.dataKey }),
    });
    const isTraced = props.tracing === "service";
    const permissions = isTraced ? [...props.permissions, sendTraces()] : props.permissions;
    const writeLogs = allow(["logs:CreateLogStream", "logs:PutLogEvents"], [this.logGroup.logGroupArn]);
    // In the role itself: an event source mapping then never meets a role whose policy is still to come.
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
      code: props.codeOf(props.entry, props.settings),
      handler: "index.handler",
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.size.memoryMb,
      timeout: this.timeout,
      ...(props.size.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.size.reservedConcurrency,
      }),
      environment: { ...props.environment },
      logGroup: this.logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      // Metrics are made of what is logged as INFO: a higher level would silence their alarms.
      applicationLogLevelV2: lambda.ApplicationLogLevel.INFO,
      systemLogLevelV2: props.logsInvocations ? lambda.SystemLogLevel.INFO : lambda.SystemLogLevel.WARN,
      ...(props.loopEnds !== undefined && { recursiveLoop: lambda.RecursiveLoop.ALLOW }),
      ...(props.retryAttempts !== undefined && { retryAttempts: props.retryAttempts }),
      // The role has what tracing needs already: CDK would add it once more, as a policy beside the role.
      ...(isTraced ? { tracing: lambda.Tracing.ACTIVE, role: role.withoutPolicyUpdates() } : { role }),
    });
  }
}

/** What Lambda needs, as the function's role, to send its traces to X-Ray. */
function sendTraces(): iam.PolicyStatement {
  return allow(["xray:PutTelemetryRecords", "xray:PutTraceSegments"], ["*"]);
}
