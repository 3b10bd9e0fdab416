/**
 * A stack's plan for this machine, with every value resolved. Names are physical names; ARNs are complete.
 */

import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import type { GenerateSecretString } from "../engines/secret-string.ts";
import type { StackListing } from "../gateway/cloudformation.ts";
import type { LinePredicate } from "../gateway/logs/filter-pattern.ts";
import type { Policy } from "../iam/policy.ts";
import type { LogLevel } from "../lambda/log-level.ts";
import type { EventFilter } from "../sources/event-filter.ts";

export type QueuePlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** Attributes for CreateQueue. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly visibilitySeconds: number;
  readonly redrive?: { readonly deadLetterTargetArn: string; readonly maxReceiveCount: number } | undefined;
};

export type TablePlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** Input of CreateTable. */
  readonly definition: Omit<CreateTableCommandInput, "TableName">;
  readonly streamArn?: string;
  readonly timeToLiveAttribute?: string | undefined;
};

export type BucketPlan = { readonly logicalId: string; readonly name: string; readonly arn: string };

export type SecretPlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly secretString?: string | undefined;
  readonly generate?: GenerateSecretString | undefined;
};

export type FunctionPlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  readonly policies: readonly Policy[];
  /** Absolute path of the unpacked bundle. */
  readonly directory: string;
  /** `<file without extension>.<export>` */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly reservedConcurrency?: number | undefined;
  /** Absent: Lambda stops recursive loops. */
  readonly recursiveLoop?: "Allow";
  /** ARNs of aliases of the latest version; absent if there are none. */
  readonly aliasArns?: readonly string[];
  readonly logGroupName: string;
  /** JSON log format, from this level on; absent: plain text without a filter. */
  readonly jsonLog?: { readonly level: LogLevel };
  /** Retries of asynchronous invocations, 0 to 2. */
  readonly maximumRetryAttempts: number;
  readonly maximumEventAgeSeconds: number;
};

type EventSourcePlan = {
  readonly logicalId: string;
  /** UUID of the mapping. */
  readonly id: string;
  /** Logical id of the function. */
  readonly function: string;
  readonly enabled: boolean;
  readonly batchSize: number;
  readonly windowSeconds: number;
  /** A record is processed if any filter matches; empty: every record. */
  readonly filters: readonly EventFilter[];
  readonly reportsItemFailures: boolean;
  readonly countsEvents: boolean;
};

export type QueueSourcePlan = EventSourcePlan & {
  readonly kind: "queue";
  readonly queue: QueuePlan;
  readonly maximumConcurrency?: number | undefined;
};

export type StreamSourcePlan = EventSourcePlan & {
  readonly kind: "stream";
  readonly table: TablePlan;
  readonly streamArn: string;
  readonly startingPosition: "TRIM_HORIZON" | "LATEST";
  /** -1: retries until the record expires. */
  readonly maximumRetryAttempts: number;
  /** -1: as long as the stream retains the record. */
  readonly maximumRecordAgeSeconds: number;
  readonly bisects: boolean;
  readonly failureBucket?: BucketPlan | undefined;
};

export type RoutePlan = {
  readonly logicalId: string;
  /** As in the template: `POST /webhooks/users`, `ANY /x/{id}`, `$default`. */
  readonly key: string;
  /** Logical id of the function. */
  readonly function: string;
  readonly timeoutMilliseconds: number;
};

export type RouteThrottle = { readonly ratePerSecond: number; readonly burst: number };
/** Default throttle of each route, and overrides by route key. */
export type ThrottlePlan = RouteThrottle & { readonly routes?: Readonly<Record<string, RouteThrottle>> };

export type ApiPlan = {
  readonly logicalId: string;
  readonly id: string;
  readonly routes: readonly RoutePlan[];
  /** Custom domain names, without a scheme. */
  readonly domains: readonly string[];
  /** Throttle of the default stage; absent: none. */
  readonly throttle?: ThrottlePlan;
  /** The format has `$context.` variables. */
  readonly accessLog?: { readonly logGroupName: string; readonly format: string };
};

export type UrlPlan = {
  readonly logicalId: string;
  /** URL as in AWS, with a trailing slash. */
  readonly url: string;
  /** Logical id of the function. */
  readonly function: string;
  /** Whether the response is streamed. */
  readonly streams: boolean;
};

export type RulePlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly enabled: boolean;
  /** `rate(…)` or `cron(…)`. */
  readonly expression: string;
  readonly targets: readonly { readonly function: string; readonly input?: string | undefined }[];
};

export type MetricFilterPlan = {
  readonly logicalId: string;
  readonly logGroupName: string;
  readonly matches: LinePredicate;
  readonly metric: MetricName;
  /** Value that a matching line adds to the metric. */
  readonly value: number | { readonly field: string };
  /** Dimension whose value is a field of the line. */
  readonly by?: { readonly dimension: string; readonly field: string };
};

type MetricName = { readonly namespace: string; readonly name: string };

export type MetricPlan = MetricName & { readonly dimensions: Readonly<Record<string, string>> };

export type WatchedMetric = MetricPlan & { readonly statistic: "Sum" | "Maximum" };

/** In alarm if `datapointsToAlarm` of the latest `evaluationPeriods` values breach the threshold. */
export type AlarmPlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly description: string;
  readonly metrics: readonly WatchedMetric[];
  /**
   * How several metrics combine to one value; in a combination, missing values count as 0. The first without the second
   * is 1 if the first counts something and the second nothing, otherwise 0.
   */
  readonly taken: "alone" | "as sum" | "as greatest" | "first without second";
  /** Days (from 1, Monday) and hours in UTC in which the metric counts; outside them its value is 1. */
  readonly during?: {
    readonly firstDay: number;
    readonly lastDay: number;
    readonly from: number;
    readonly to: number;
  };
  readonly periodSeconds: number;
  /** Side of the threshold that breaches; a value equal to the threshold breaches too. */
  readonly breaches: "above" | "below";
  /** How a period without a value counts; ignored: it keeps the state if it could decide it. */
  readonly missing: "breaching" | "notBreaching" | "ignore";
  readonly threshold: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
} & AlarmActions;

type AlarmActions = {
  /** Actions when the alarm fires: ARNs, or logical ids of topics. */
  readonly actions: readonly string[];
  readonly okActions: readonly string[];
};

/** In alarm while one of its terms is true. */
export type CompositeAlarmPlan = AlarmActions & {
  readonly logicalId: string;
  readonly name: string;
  readonly description: string;
  readonly terms: readonly AlarmTerm[];
};

/** Whether the alarm of this name is in a state, or is not in it. */
export type AlarmTerm = {
  readonly alarm: string;
  readonly state: "OK" | "ALARM" | "INSUFFICIENT_DATA";
  readonly isNegated: boolean;
};

export type ResourcePolicyPlan = { readonly arn: string; readonly policy: Policy };

export type StackPlan = {
  readonly name: string;
  readonly queues: readonly QueuePlan[];
  readonly tables: readonly TablePlan[];
  readonly buckets: readonly BucketPlan[];
  readonly secrets: readonly SecretPlan[];
  readonly functions: readonly FunctionPlan[];
  readonly sources: readonly (QueueSourcePlan | StreamSourcePlan)[];
  readonly apis: readonly ApiPlan[];
  readonly urls: readonly UrlPlan[];
  readonly rules: readonly RulePlan[];
  readonly metricFilters: readonly MetricFilterPlan[];
  readonly alarms: readonly AlarmPlan[];
  readonly compositeAlarms: readonly CompositeAlarmPlan[];
  /** One per resource, with merged statements. */
  readonly resourcePolicies: readonly ResourcePolicyPlan[];
  /** Resources that CloudFormation would list, limited to those that run here. */
  readonly resources: StackListing["resources"];
  readonly outputs: Readonly<Record<string, string>>;
  /** Export names by output name. */
  readonly exports: Readonly<Record<string, string>>;
  /** Resources that this machine does not run, with the reason, for printing. */
  readonly notRun: readonly string[];
};
