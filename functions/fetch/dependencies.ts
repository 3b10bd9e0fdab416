import type { ClaimData } from "../../adapters/dynamodb/claims.ts";
import type { StoreContent } from "../../adapters/dynamodb/document-store.ts";
import type { VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { Call } from "../../adapters/provider/with-token.ts";
import type { KeptPages } from "../../adapters/s3/kept-pages.ts";
import type { Hide } from "../../adapters/sqs/message-visibility.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import type { ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { Log } from "../runtime/log.ts";
import type { Gate } from "../runtime/provider-calls.ts";
import type { RetryDecisionSettings } from "./retry-decision.ts";

export type FetcherDependencies = {
  readonly versionedRecords: VersionedRecords;
  readonly claimData: ClaimData;
  readonly storeContent: StoreContent;
  readonly keptPages: KeptPages;
  /** Guarded: a call that may not be made now throws a retryable failure. */
  readonly call: Call;
  /** Throws what a call would throw, where that is known without one. */
  readonly gate: Gate;
  readonly send: Send;
  readonly hide: Hide;
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
  readonly provider: ProviderSettings;
  /** What is fetched when an account becomes connected. */
  readonly startEndpoints: readonly string[];
  /** Of its time the function keeps this for what comes after the last call. */
  readonly longestRunInMillis: number;
  /** So long events may take to answer a start, before its endpoints are read anyway. */
  readonly readAfterSeconds: number;
  readonly retrying: RetryDecisionSettings;
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Log;
};
