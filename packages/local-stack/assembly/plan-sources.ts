/** Plans of what calls functions: event source mappings, the HTTP API, rules, and permissions. */

import { z } from "zod";
import { type Policy, parsePolicy } from "../iam/policy.ts";
import { parseSchedule } from "../schedules/next-time.ts";
import { parseEventFilter } from "../sources/event-filter.ts";
import type {
  ApiPlan,
  BucketPlan,
  QueuePlan,
  QueueSourcePlan,
  ResourcePolicyPlan,
  RoutePlan,
  RulePlan,
  StreamSourcePlan,
  TablePlan,
} from "./plan.ts";
import { PlanError } from "./problems.ts";
import { boolean, number, parseProperties } from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

type Properties = Readonly<Record<string, unknown>>;

const mappingSchema = z.strictObject({
  BatchSize: number.optional(),
  BisectBatchOnFunctionError: boolean.default(false),
  DestinationConfig: z
    .strictObject({ OnFailure: z.strictObject({ Destination: z.string() }).optional() })
    .optional(),
  Enabled: boolean.default(true),
  EventSourceArn: z.string(),
  FilterCriteria: z
    .strictObject({ Filters: z.array(z.strictObject({ Pattern: z.string() })).default([]) })
    .optional(),
  FunctionName: z.string(),
  FunctionResponseTypes: z.array(z.literal("ReportBatchItemFailures")).default([]),
  MaximumBatchingWindowInSeconds: number.default(0),
  MaximumRecordAgeInSeconds: number.default(-1),
  MaximumRetryAttempts: number.default(-1),
  MetricsConfig: z.strictObject({ Metrics: z.array(z.literal("EventCount")) }).optional(),
  ParallelizationFactor: number.pipe(z.literal(1)).optional(),
  ScalingConfig: z.strictObject({ MaximumConcurrency: number.optional() }).optional(),
  StartingPosition: z.enum(["TRIM_HORIZON", "LATEST"]).optional(),
});
type Mapping = z.infer<typeof mappingSchema>;

/** An event source mapping of a queue or a table's stream. */
export function planEventSource(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
  data: {
    readonly queues: readonly QueuePlan[];
    readonly tables: readonly TablePlan[];
    readonly buckets: readonly BucketPlan[];
  },
): QueueSourcePlan | StreamSourcePlan {
  const mapping = parseProperties(mappingSchema, properties, scope, ["Tags"]);
  const shared = {
    logicalId,
    id: scope.identity(logicalId).ref,
    function: functionIdOf(mapping.FunctionName, scope),
    enabled: mapping.Enabled,
    windowSeconds: mapping.MaximumBatchingWindowInSeconds,
    filters: (mapping.FilterCriteria?.Filters ?? []).map(({ Pattern }) => parseEventFilter(Pattern)),
    reportsItemFailures: mapping.FunctionResponseTypes.length > 0,
  };
  const queue = data.queues.find(({ arn }) => arn === mapping.EventSourceArn);
  if (queue !== undefined) {
    const maximumConcurrency = mapping.ScalingConfig?.MaximumConcurrency;
    return {
      ...shared,
      kind: "queue",
      queue,
      batchSize: mapping.BatchSize ?? 10,
      ...(maximumConcurrency !== undefined && { maximumConcurrency }),
    };
  }
  const table = data.tables.find(({ streamArn }) => streamArn === mapping.EventSourceArn);
  if (table?.streamArn === undefined) {
    throw new PlanError(
      `its event source ${mapping.EventSourceArn} is not one that the local runner knows`,
      "Use a queue or a table's stream of the same stack.",
    );
  }
  return {
    ...shared,
    ...streamSettings(mapping, data.buckets),
    kind: "stream",
    countsEvents: (mapping.MetricsConfig?.Metrics ?? []).length > 0,
    table,
    streamArn: table.streamArn,
  };
}

function streamSettings(mapping: Mapping, buckets: readonly BucketPlan[]) {
  const destination = mapping.DestinationConfig?.OnFailure?.Destination;
  const failureBucket = buckets.find(({ arn }) => arn === destination);
  if (destination !== undefined && failureBucket === undefined) {
    throw new PlanError(
      `its failure destination ${destination} is not a bucket of the stack`,
      "Use a bucket: only there are whole records kept.",
    );
  }
  if (mapping.StartingPosition === undefined) {
    throw new PlanError(
      "it reads a stream and has no StartingPosition",
      "Set TRIM_HORIZON, or LATEST to lose what came before.",
    );
  }
  return {
    batchSize: mapping.BatchSize ?? 100,
    startingPosition: mapping.StartingPosition,
    maximumRetryAttempts: mapping.MaximumRetryAttempts,
    maximumRecordAgeSeconds: mapping.MaximumRecordAgeInSeconds,
    bisects: mapping.BisectBatchOnFunctionError,
    ...(failureBucket && { failureBucket }),
  };
}

const permissionSchema = z.strictObject({
  Action: z.string(),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceAccount: z.string().optional(),
  SourceArn: z.string().optional(),
});

/** A permission is a statement of the function's resource policy. */
export function planPermission(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): ResourcePolicyPlan {
  const parsed = parseProperties(permissionSchema, properties, scope);
  const arn = scope.attributeText(functionIdOf(parsed.FunctionName, scope), "Arn");
  const isService = parsed.Principal.endsWith(".amazonaws.com");
  const conditions = {
    ...(parsed.SourceArn !== undefined && { ArnLike: { "aws:SourceArn": parsed.SourceArn } }),
    ...(parsed.SourceAccount !== undefined && {
      StringEquals: { "aws:SourceAccount": parsed.SourceAccount },
    }),
  };
  const policy = parsePolicy(
    {
      Version: "2012-10-17",
      Statement: [
        {
          Sid: logicalId,
          Effect: "Allow",
          Action: parsed.Action,
          Resource: arn,
          Principal: isService ? { Service: parsed.Principal } : { AWS: parsed.Principal },
          ...(Object.keys(conditions).length > 0 && { Condition: conditions }),
        },
      ],
    },
    logicalId,
  );
  return { arn, policy };
}

/** Merges the statements of policies on one resource. */
export function mergePolicies(plans: readonly ResourcePolicyPlan[]): ResourcePolicyPlan[] {
  const merged = new Map<string, Policy>();
  for (const { arn, policy } of plans) {
    const before = merged.get(arn);
    merged.set(arn, {
      where: before === undefined ? policy.where : `${before.where}, ${policy.where}`,
      statements: [...(before?.statements ?? []), ...policy.statements],
    });
  }
  return [...merged].map(([arn, policy]) => ({ arn, policy }));
}

const apiSchema = z.strictObject({
  Name: z.string().optional(),
  ProtocolType: z.literal("HTTP"),
});
const ignoredOfApis = ["Description", "DisableExecuteApiEndpoint", "DisableSchemaValidation", "Tags"];
const integrationSchema = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal("AWS_PROXY"),
  IntegrationUri: z.string(),
  IntegrationMethod: z.string().optional(),
  PayloadFormatVersion: z.literal("2.0"),
  TimeoutInMillis: number.default(30_000),
});
const routeSchema = z.strictObject({
  ApiId: z.string(),
  AuthorizationType: z.literal("NONE").optional(),
  RouteKey: z.string().regex(/^(\$default|(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY) \/\S*)$/),
  Target: z.string(),
});
const stageSchema = z.strictObject({
  AccessLogSettings: z.strictObject({ DestinationArn: z.string(), Format: z.string() }).optional(),
  ApiId: z.string(),
  AutoDeploy: boolean.optional(),
  DefaultRouteSettings: z
    .strictObject({ ThrottlingBurstLimit: number.optional(), ThrottlingRateLimit: number.optional() })
    .optional(),
  StageName: z.literal("$default"),
});
const ignoredOfStages = ["Description", "Tags"];

/** Checks the API's own settings; its routes are planned one by one. */
export function planApi(
  logicalId: string,
  properties: Properties,
  scope: StackScope,
): Pick<ApiPlan, "logicalId" | "id"> {
  parseProperties(apiSchema, properties, scope, ignoredOfApis);
  return { logicalId, id: scope.identity(logicalId).ref };
}

/** Only the default stage is served, as it stands without a prefix in the path. */
export function planStage(
  properties: Properties,
  scope: StackScope,
): Pick<ApiPlan, "throttle" | "accessLog"> {
  const stage = parseProperties(stageSchema, properties, scope, ignoredOfStages);
  const { ThrottlingRateLimit: ratePerSecond, ThrottlingBurstLimit: burst } =
    stage.DefaultRouteSettings ?? {};
  const log = stage.AccessLogSettings;
  const logGroupName = log?.DestinationArn.split(":log-group:")[1]?.replace(/:\*$/, "");
  return {
    ...(ratePerSecond !== undefined && burst !== undefined && { throttle: { ratePerSecond, burst } }),
    ...(log !== undefined &&
      logGroupName !== undefined && { accessLog: { logGroupName, format: log.Format } }),
  };
}

/** A route with the function behind its integration. */
export function planRoute(logicalId: string, properties: Properties, scope: StackScope): RoutePlan {
  const route = parseProperties(routeSchema, properties, scope);
  const integrationId = [...scope.resources]
    .filter(([, { Type }]) => Type === "AWS::ApiGatewayV2::Integration")
    .map(([id]) => id)
    .find((id) => `integrations/${scope.identity(id).ref}` === route.Target);
  if (integrationId === undefined) {
    throw new PlanError(`its target ${route.Target} is not in the stack`, "Correct the reference.");
  }
  const integration = parseProperties(
    integrationSchema,
    scope.resources.get(integrationId)?.Properties ?? {},
    scope,
    ["Description"],
  );
  return {
    logicalId,
    key: route.RouteKey,
    function: functionIdOf(integration.IntegrationUri, scope),
    timeoutMilliseconds: integration.TimeoutInMillis,
  };
}

const ruleSchema = z.strictObject({
  Name: z.string().optional(),
  ScheduleExpression: z.string({ error: "(an event pattern is not a schedule that can run here)" }),
  State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
  Targets: z
    .array(
      z.strictObject({
        Arn: z.string(),
        Id: z.string(),
        Input: z.string().optional(),
        DeadLetterConfig: z.unknown().optional(),
        RetryPolicy: z.unknown().optional(),
      }),
    )
    .default([]),
});

/** A rule with a schedule. What a target says about failed delivery has no effect: delivery can't fail here. */
export function planRule(logicalId: string, properties: Properties, scope: StackScope): RulePlan {
  const rule = parseProperties(ruleSchema, properties, scope, ["Description", "EventBusName", "Tags"]);
  parseSchedule(rule.ScheduleExpression);
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attributeText(logicalId, "Arn"),
    enabled: rule.State === "ENABLED",
    expression: rule.ScheduleExpression,
    targets: rule.Targets.map(({ Arn, Input }) => ({
      function: functionIdOf(Arn, scope),
      ...(Input !== undefined && { input: Input }),
    })),
  };
}

/**
 * The logical id of the function that a name or an ARN stands for.
 * @throws PlanError where it is not a function of the stack
 */
export function functionIdOf(nameOrArn: string, scope: StackScope): string {
  for (const [logicalId, { Type }] of scope.resources) {
    if (Type !== "AWS::Lambda::Function") continue;
    const { ref, attributes } = scope.identity(logicalId);
    if (nameOrArn === ref || nameOrArn === attributes.Arn || nameOrArn === invocationUri(attributes.Arn)) {
      return logicalId;
    }
  }
  throw new PlanError(
    `it is for ${nameOrArn}, which is not a function of the stack`,
    "Name a function of the stack, without version or alias.",
  );
}

/** The older form in which an integration names a function. */
function invocationUri(arn = ""): string {
  const region = arn.split(":")[3] ?? "";
  return `arn:aws:apigateway:${region}:lambda:path/2015-03-31/functions/${arn}/invocations`;
}
