// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration } from "aws-cdk-lib";

/** The settings `reconcile.*`. */
export interface ReconcileProps {
  /**
   * Interval between the starts of two runs. From 1 to 168.
   * @default 24
   */
  readonly everyHours?: number | Duration;
  /**
   * Interval at which an unfinished run continues. From 1 to 60.
   * @default 5
   */
  readonly tickMinutes?: number | Duration;
  /**
   * Skip records that were created within this many minutes, whose webhook may still come. From 0 to 1440.
   * @default 15
   */
  readonly graceMinutes?: number | Duration;
  /**
   * Read data again that was fetched more than this many days ago. From 1 to 3650.
   * @default 30
   */
  readonly rereadAfterDays?: number | Duration;
  /** The settings `reconcile.maxDeletions.*`. */
  readonly maxDeletions?: ReconcileMaxDeletionsProps;
  /**
   * Hours between the discovery of a deletion and the call that confirms it. The deletion is reported only after that call. From 1 to 24.
   * @default 6
   */
  readonly askAgainAfterHours?: number | Duration;
  /** The settings `reconcile.missed.*`. */
  readonly missed?: ReconcileMissedProps;
  /** The settings `reconcile.users.*`. */
  readonly users?: ReconcileUsersProps;
  /** The settings `reconcile.accounts.*`. */
  readonly accounts?: ReconcileAccountsProps;
}

/** The settings `reconcile.maxDeletions.*`. */
export interface ReconcileMaxDeletionsProps {
  /**
   * Maximum deletions within seven days, in percent of the accounts that the last complete run listed. A run that would exceed it deletes nothing and raises an alarm. From 0 to 100.
   * @default 5
   */
  readonly percent?: number;
  /**
   * Deletions within seven days that are always allowed, even if they exceed `reconcile.maxDeletions.percent`. From 0 to 1000000.
   * @default 20
   */
  readonly atLeast?: number;
}

/** The settings `reconcile.missed.*`. */
export interface ReconcileMissedProps {
  /**
   * Minimum interval between two runs that start because webhooks may have been lost. From 5 to 1440.
   * @default 15
   */
  readonly atMostEveryMinutes?: number | Duration;
  /**
   * Start a run after this many minutes without a webhook, if the same period had at least ten both a day and a week before. From 10 to 1440.
   * @default 10
   */
  readonly gapMinutes?: number | Duration;
}

/** The settings `reconcile.users.*`. */
export interface ReconcileUsersProps {
  /**
   * Where the response with users has its list, unless it is a bare array.
   * @default - `provider.paging.items`
   */
  readonly items?: string;
  /**
   * JMESPath expression for the id of a listed user.
   * @default "id || user_id"
   */
  readonly id?: string;
  /**
   * JMESPath expression for the creation time of a listed user.
   * @default "created_at"
   */
  readonly createdAt?: string;
}

/** The settings `reconcile.accounts.*`. */
export interface ReconcileAccountsProps {
  /**
   * Where the response with accounts has its list, unless it is a bare array.
   * @default - `provider.paging.items`
   */
  readonly items?: string;
  /**
   * JMESPath expression for the id of a listed account.
   * @default "id || account_id"
   */
  readonly id?: string;
  /**
   * JMESPath expression for whether a listed account is connected.
   * @default "connected"
   */
  readonly connected?: string;
  /**
   * JMESPath expression for the data source of a listed account.
   * @default "datasource_id"
   */
  readonly datasourceId?: string;
  /**
   * JMESPath expression for the creation time of a listed account.
   * @default "created_at"
   */
  readonly createdAt?: string;
  /**
   * JMESPath expression for the time when a listed account or its data last changed. Set it only if the provider documents that new data changes it. After lost webhooks, accounts that have not changed since are then not read again.
   * @default - not set
   */
  readonly updatedAt?: string;
}
