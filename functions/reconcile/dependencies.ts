import type { Checkpoint } from "../../adapters/checkpoint.ts";
import type { Partitions } from "../../adapters/partitions.ts";
import type { Revisions } from "../../adapters/revisions.ts";
import type { Send } from "../../adapters/sqs-sender.ts";
import type { Search } from "../../domain/mapping.ts";
import type { ReconcileSettings } from "../../domain/reconcile-settings.ts";
import type { Run } from "../../domain/reconciliation.ts";
import type { Log } from "../runtime/log.ts";
import type { ProviderLists } from "./provider-lists.ts";

export type ReconcilerDependencies = {
  readonly lists: ProviderLists;
  readonly search: Search;
  readonly checkpoint: Checkpoint<Run>;
  readonly revisions: Revisions;
  readonly partitions: Partitions;
  readonly send: Send;
  /** The queues that webhooks go through as well. */
  readonly queueUrls: { readonly users: string; readonly accounts: string };
  readonly settings: ReconcileSettings;
  /** A tick ends by itself while there is still time for one call. */
  readonly longestCallInMillis: number;
  readonly now: () => Date;
  readonly log: Log;
};
