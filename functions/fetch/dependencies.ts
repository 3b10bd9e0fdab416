import type { ServiceClock } from "../../adapters/aws/service-clock.ts";
import type { DocumentStore, ReadDocuments } from "../../adapters/dynamodb/documents.ts";
import type { ReadinessRecords } from "../../adapters/dynamodb/readiness.ts";
import type { VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { FindErased } from "../../adapters/erasure/tombstones.ts";
import type { ProviderClient } from "../../adapters/provider/provider-client.ts";
import type { KeptPages } from "../../adapters/s3/kept-pages.ts";
import type { SharedSend } from "../../adapters/sqs/batching-sender.ts";
import type { Hide } from "../../adapters/sqs/message-visibility.ts";
import type { AttributeExpressions } from "../../domain/event/attributes.ts";
import type { ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { Awaited } from "../../domain/readiness/readiness-settings.ts";
import type { Log } from "../runtime/log.ts";
import type { RetryLimits } from "./retry-decision.ts";

/** A queue of tasks, and where those are sent that are given up. */
export type TaskQueue = { readonly url: string; readonly deadLetterUrl: string };

/** `checks` is where checks of starts wait until they are due. */
export type TaskQueues = { readonly fetch: TaskQueue; readonly checks: TaskQueue };

export type FetcherDependencies = {
  readonly versionedRecords: VersionedRecords;
  readonly documents: DocumentStore;
  readonly readDocuments: ReadDocuments;
  readonly findErased: FindErased;
  readonly keptPages: KeptPages;
  /** A call that may not be made now throws a retryable failure. */
  readonly client: Pick<ProviderClient, "call" | "checkReady">;
  readonly send: SharedSend;
  readonly hide: Hide;
  readonly queues: TaskQueues;
  readonly provider: ProviderSettings;
  /** Which attributes the provider's answer about a user has; empty where the settings map none. */
  readonly attributes: AttributeExpressions;
  /** What is fetched when an account becomes connected. */
  readonly startEndpoints: readonly string[];
  /** Documents that accounts wait for; absent where the stage has no such setting. */
  readonly readiness?: (Awaited & Pick<ReadinessRecords, "markFailure">) | undefined;
  /** Of its time the function keeps this for what comes after the last call. */
  readonly longestRunInMillis: number;
  /** So long events may take to answer a start, before its endpoints are read anyway. */
  readonly readAfterSeconds: number;
  readonly retrying: RetryLimits;
  /** What has to be right to the hour is timed by this, never by the function's own clock. */
  readonly clock: ServiceClock;
  /** For what the provider answered, as messages tell it. */
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Log;
};
