import type { documentReader } from "../../adapters/dynamodb/documents.ts";
import type { partitions } from "../../adapters/dynamodb/event-table.ts";
import type { orphans } from "../../adapters/dynamodb/orphans.ts";
import type { ReadinessRecords, VersionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import type { Send } from "../../adapters/sqs/sqs-sender.ts";
import type { Checkpoint } from "../../adapters/streams/checkpoint.ts";
import type { Search } from "../../domain/event/mapping.ts";
import type { ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import type { ReceivingCounts } from "../../domain/reconcile/missed.ts";
import type { ReconcileSettings } from "../../domain/reconcile/reconcile-settings.ts";
import type { Run } from "../../domain/reconcile/reconciliation.ts";
import type { RunRequest } from "../../domain/reconcile/run-request.ts";
import type { Log } from "../runtime/log.ts";
import type { ProviderLists } from "./provider-lists.ts";

export type ReconcilerDependencies = {
  readonly lists: ProviderLists;
  readonly search: Search;
  readonly checkpoint: Checkpoint<Run>;
  /** Requests for a run, from receivers. */
  readonly requests: Checkpoint<RunRequest>;
  readonly versionedRecords: VersionedRecords;
  readonly partitions: ReturnType<typeof partitions>;
  readonly orphans: ReturnType<typeof orphans>;
  readonly readDocuments: ReturnType<typeof documentReader>;
  /** Absent if the stage has no `readiness.staleDays`. */
  readonly readiness?: { readonly records: ReadinessRecords; readonly staleMillis: number } | undefined;
  readonly send: Send;
  /** Queues of webhooks, and of fetch tasks. */
  readonly queueUrls: Readonly<Record<"users" | "accounts" | "company-accounts" | "fetch", string>>;
  readonly provider: Pick<ProviderSettings, "paths">;
  readonly settings: ReconcileSettings;
  /** Endpoints that every connected account should have documents for. */
  readonly startEndpoints: readonly string[];
  readonly receivingCounts: (now: Date) => Promise<ReceivingCounts>;
  /** A tick ends when less time than this is left. */
  readonly longestCallInMillis: number;
  readonly now: () => Date;
  readonly log: Log;
};
