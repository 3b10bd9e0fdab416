import type { SQSRecord } from "aws-lambda";
import type { DocumentStore, ReadDocuments } from "../../adapters/dynamodb/documents.ts";
import type { ReadinessRecords, VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { FindErased } from "../../adapters/erasure/find-erased.ts";
import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { KeptPages } from "../../adapters/s3/overflow-bucket.ts";
import type { batchingSender, VisibilityChange } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import type { Mutex } from "../../domain/core/mutex.ts";
import type { AttributeExpressions } from "../../domain/event/attributes.ts";
import type { DeliveredTask } from "../../domain/fetch/coverage.ts";
import type { ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { GiveUpLimits, RetrySettings } from "../../domain/fetch/task.ts";
import { type FetchTask, groupOf, readTask } from "../../domain/fetch/task.ts";
import type { Awaited } from "../../domain/readiness/readiness.ts";
import type { Log } from "../runtime/log.ts";

export type TaskQueue = { readonly url: string; readonly deadLetterUrl: string };

export type FetcherDependencies = {
  readonly versionedRecords: VersionedRecords;
  readonly documents: DocumentStore;
  readonly readDocuments: ReadDocuments;
  readonly findErased: FindErased;
  readonly keptPages: KeptPages;
  /** Throws a retryable failure for a call that can't be made now. */
  readonly client: Pick<ProviderClient, "call" | "gate" | "prepare">;
  readonly send: ReturnType<typeof batchingSender>;
  /** Changes the visibility of messages. @returns the failure of each, in order, or undefined */
  readonly changeVisibility: (
    queueUrl: string,
    messages: readonly VisibilityChange[],
  ) => Promise<readonly (Failure | undefined)[]>;
  /** `checks` holds the checks of starts until they are due. */
  readonly queues: { readonly fetch: TaskQueue; readonly checks: TaskQueue };
  readonly provider: ProviderSettings;
  /** Expressions for attributes in the provider's answer about a user; empty if the settings map none. */
  readonly attributes: AttributeExpressions;
  /** Endpoints to fetch when an account becomes connected. */
  readonly startEndpoints: readonly string[];
  /** Documents that an account needs to be ready; absent if the stage has no `readiness` setting. */
  readonly readiness?: (Awaited & Pick<ReadinessRecords, "markFailure">) | undefined;
  /** Time reserved for the work after the last call. */
  readonly reservedInMillis: number;
  /** How long events may take to answer a start before its endpoints are read anyway. */
  readonly readAfterSeconds: number;
  readonly retrying: {
    readonly retry: RetrySettings;
    readonly limits: GiveUpLimits;
    /** Age at which to give up a task whose data the provider doesn't have ready. */
    readonly longestOutageSeconds: number;
  };
  /** DynamoDB's clock in milliseconds since 1970, for times that must not depend on the function's own clock. */
  readonly clock: () => number;
  /** The function's clock, for the times of the provider's answers in messages. */
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Log;
};

/** A task's share of the invocation. */
export type TaskRun = {
  /** Milliseconds left for calls. */
  readonly timeLeft: () => number;
  /** Lets one read at a time collect pages; several would not fit in memory. */
  readonly pageMutex: Mutex;
  /** Resolves when the batch's other calls are done, or after a maximum time. */
  readonly untilReady: () => Promise<void>;
};

/** SQS's metadata of a message. Times are milliseconds since 1970. */
export type Delivery = Omit<DeliveredTask, "since"> & {
  /** SQS's `SentTimestamp`. */
  readonly sentAt: number;
  readonly receives: number;
};

export type Delivered<Task extends FetchTask = FetchTask> = {
  readonly task: Task;
  readonly delivery: Delivery;
};

/** Reads a batch's tasks, in order by group. @returns the failures of unreadable messages by message id */
export function readDelivered(records: readonly SQSRecord[]) {
  const groups = new Map<string, Delivered[]>();
  const failures = new Map<string, Failure>();
  for (const record of records) {
    try {
      const task = readTask(record.body);
      const group = groups.get(groupOf(task)) ?? [];
      group.push({ task, delivery: deliveryOf(record) });
      groups.set(groupOf(task), group);
    } catch (error) {
      failures.set(record.messageId, failureOf(error));
    }
  }
  return { groups: [...groups.values()], failures };
}

function deliveryOf({ messageId, attributes }: SQSRecord): Delivery {
  return {
    messageId,
    sentAt: Number(attributes.SentTimestamp),
    firstReceivedAt: Number(attributes.ApproximateFirstReceiveTimestamp),
    receives: Number(attributes.ApproximateReceiveCount),
  };
}

/** The result of a task: `skipped` if there was nothing left to do. */
export type TaskResult = "done" | "skipped" | Failure;
