/** What a stack comes to on this machine, every value resolved. Names are physical names, ARNs complete. */

import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import type { LogPattern } from "../alarms/log-pattern.ts";
import type { GenerateSecretString } from "../engines/secret-string.ts";
import type { StackListing } from "../gateway/cloudformation.ts";
import type { Policy } from "../iam/policy.ts";
import type { LogLevel } from "../lambda/log-level.ts";
import type { EventFilter } from "../sources/event-filter.ts";

export type QueuePlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** As CreateQueue takes them. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly visibilitySeconds: number;
  readonly redrive?: { readonly deadLetterTargetArn: string; readonly maxReceiveCount: number } | undefined;
};

export type TableDefinition = Pick<
  CreateTableCommandInput,
  | "AttributeDefinitions"
  | "KeySchema"
  | "GlobalSecondaryIndexes"
  | "LocalSecondaryIndexes"
  | "StreamSpecification"
>;

export type TablePlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** As CreateTable takes it. */
  readonly definition: TableDefinition;
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
  /** `<file without ending>.<export>` */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly reservedConcurrency?: number | undefined;
  /** Absent: Lambda ends a chain that comes back too often. */
  readonly recursiveLoop?: "Allow";
  /** The ARNs of its aliases, all of the latest version; absent: it has none. */
  readonly aliasArns?: readonly string[];
  readonly logGroupName: string;
  /** Its log format is JSON, and less than the level is left out; absent: plain text, all of it. */
  readonly jsonLog?: { readonly level: LogLevel };
  /** Of asynchronous invocations, 0 to 2. */
  readonly maximumRetryAttempts: number;
  readonly maximumEventAgeSeconds: number;
};

type EventSourcePlan = {
  readonly logicalId: string;
  /** The mapping's UUID. */
  readonly id: string;
  /** The function's logical id. */
  readonly function: string;
  readonly enabled: boolean;
  readonly batchSize: number;
  readonly windowSeconds: number;
  /** A record is taken where any of them matches; empty: every record. */
  readonly filters: readonly EventFilter[];
  readonly reportsItemFailures: boolean;
  /** Whether it counts events, for CloudWatch. */
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
  /** -1: until the records are too old. */
  readonly maximumRetryAttempts: number;
  /** -1: as long as the stream keeps them. */
  readonly maximumRecordAgeSeconds: number;
  readonly bisects: boolean;
  /** The bucket that takes what is given up. */
  readonly failureBucket?: BucketPlan | undefined;
};

export type RoutePlan = {
  readonly logicalId: string;
  /** As in the template: `POST /webhooks/users`, `ANY /x/{id}`, `$default`. */
  readonly key: string;
  /** The function's logical id. */
  readonly function: string;
  readonly timeoutMilliseconds: number;
};

/** What each route lets through, by itself. */
export type RouteThrottle = { readonly ratePerSecond: number; readonly burst: number };
/** The throttle of each route that is not in `routes`. */
export type ThrottlePlan = RouteThrottle & { readonly routes?: Readonly<Record<string, RouteThrottle>> };

/** A line for each request: `$context.` names stand for what is known of it. */
export type AccessLogPlan = { readonly logGroupName: string; readonly format: string };

export type ApiPlan = {
  readonly logicalId: string;
  readonly id: string;
  readonly routes: readonly RoutePlan[];
  /** Names of its own, without a scheme. */
  readonly domains: readonly string[];
  /** Of the default stage; absent: nothing is throttled. */
  readonly throttle?: ThrottlePlan;
  readonly accessLog?: AccessLogPlan;
};

/** A function's URL, whose callers IAM knows. */
export type UrlPlan = {
  readonly logicalId: string;
  /** As in AWS, with a slash at its end. */
  readonly url: string;
  /** The function's logical id. */
  readonly function: string;
  /** Whether the answer is sent as the function writes it. */
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
  readonly pattern: LogPattern;
  readonly metric: MetricName;
  /** What a line that matches adds to the metric. */
  readonly value: number | { readonly field: string };
  /** A dimension whose value is a field of the line. */
  readonly by?: { readonly dimension: string; readonly field: string };
};

type MetricName = { readonly namespace: string; readonly name: string };

export type MetricPlan = MetricName & { readonly dimensions: Readonly<Record<string, string>> };

/** A metric, and what one value of it is made of. */
export type WatchedMetric = MetricPlan & { readonly statistic: "Sum" | "Maximum" };

/** It is in alarm while of its latest `evaluationPeriods` values `datapointsToAlarm` breach. */
export type AlarmPlan = {
  readonly logicalId: string;
  readonly name: string;
  readonly description: string;
  readonly metrics: readonly WatchedMetric[];
  /** How its metrics make one value; together, what was not measured counts as 0. */
  readonly taken: "alone" | "as sum" | "as greatest";
  /** Days from 1, Monday, and hours in UTC in which the metric counts; outside of them its value is 1. */
  readonly during?: {
    readonly firstDay: number;
    readonly lastDay: number;
    readonly from: number;
    readonly to: number;
  };
  readonly periodSeconds: number;
  /** Values at the threshold breach, and those above it, or below it. */
  readonly breaches: "above" | "below";
  /** What a period without a value counts as; ignored: it leaves the state as it is where that matters. */
  readonly missing: "breaching" | "notBreaching" | "ignore";
  readonly threshold: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
} & AlarmActions;

type AlarmActions = {
  /** What is notified when it goes off: ARNs, or logical ids of topics. */
  readonly actions: readonly string[];
  /** What is notified when it becomes OK. */
  readonly okActions: readonly string[];
};

/** It is in alarm while one of its terms is true. */
export type CompositeAlarmPlan = AlarmActions & {
  readonly logicalId: string;
  readonly name: string;
  readonly description: string;
  readonly terms: readonly AlarmTerm[];
};

/** Whether the alarm of this name is in a state, or is not. */
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
  /** One for each resource, its statements merged. */
  readonly resourcePolicies: readonly ResourcePolicyPlan[];
  /** What CloudFormation would list of it: all that runs here. */
  readonly resources: StackListing["resources"];
  readonly outputs: Readonly<Record<string, string>>;
  /** The names under which outputs are exported, by the output's name. */
  readonly exports: Readonly<Record<string, string>>;
  /** For people: what the template holds and this machine does not run, with the reason. */
  readonly notRun: readonly string[];
};
