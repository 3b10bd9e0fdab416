import { z } from "zod";
import { parseSchedule } from "../schedules/next-time.ts";
import { parseEventFilter } from "../sources/event-filter.ts";
import type {
  BucketPlan,
  QueuePlan,
  QueueSourcePlan,
  RulePlan,
  StreamSourcePlan,
  TablePlan,
} from "./plan.ts";
import { PlanError } from "./problems.ts";
import {
  boolean,
  functionIdOf,
  number,
  type Planner,
  type Properties,
  parseProperties,
} from "./properties.ts";
import type { StackScope } from "./stack-scope.ts";

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
    countsEvents: (mapping.MetricsConfig?.Metrics ?? []).length > 0,
  };
  const queue = data.queues.find(({ arn }) => arn === mapping.EventSourceArn);
  if (queue !== undefined) {
    return {
      ...shared,
      kind: "queue",
      queue,
      batchSize: mapping.BatchSize ?? 10,
      maximumConcurrency: mapping.ScalingConfig?.MaximumConcurrency,
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
    failureBucket,
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

/**
 * Plans a rule with a schedule. Retry and dead-letter settings of targets are ignored: local delivery cannot
 * fail.
 */
export const planRule: Planner<RulePlan> = (logicalId, properties, scope) => {
  const rule = parseProperties(ruleSchema, properties, scope, ["Description", "EventBusName", "Tags"]);
  parseSchedule(rule.ScheduleExpression);
  return {
    logicalId,
    name: scope.name(logicalId),
    arn: scope.attribute(logicalId, "Arn"),
    enabled: rule.State === "ENABLED",
    expression: rule.ScheduleExpression,
    targets: rule.Targets.map(({ Arn, Input }) => ({ function: functionIdOf(Arn, scope), input: Input })),
  };
};
