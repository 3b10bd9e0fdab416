// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration } from "aws-cdk-lib";

/** The settings `reconcile.*`. */
export interface ReconcileProps {
  /**
   * From the start of one run to that of the next. From 1 to 168.
   * @default 24
   */
  readonly everyHours?: number | Duration;
  /**
   * How often a run that has not come to its end goes on. From 1 to 60.
   * @default 5
   */
  readonly tickMinutes?: number | Duration;
  /**
   * A record that was created so recently is left to its webhook. From 0 to 1440.
   * @default 15
   */
  readonly graceMinutes?: number | Duration;
  /**
   * Data that was fetched longer ago is read again. From 1 to 3650.
   * @default 30
   */
  readonly rereadAfterDays?: number | Duration;
  /** The settings `reconcile.maxDeletions.*`. */
  readonly maxDeletions?: ReconcileMaxDeletionsProps;
  /**
   * From when a deletion is found until the provider is asked again, and it is reported. From 1 to 24.
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
   * A run that would exceed so many deletions within seven days deletes none and raises an alarm: percent of the accounts that the last complete run listed, at least the number. From 0 to 100.
   * @default 5
   */
  readonly percent?: number;
  /**
   * A run that would exceed so many deletions within seven days deletes none and raises an alarm: percent of the accounts that the last complete run listed, at least the number. From 0 to 1000000.
   * @default 20
   */
  readonly atLeast?: number;
}

/** The settings `reconcile.missed.*`. */
export interface ReconcileMissedProps {
  /**
   * The least time between two runs that begin because webhooks may have been lost. From 5 to 1440.
   * @default 15
   */
  readonly atMostEveryMinutes?: number | Duration;
  /**
   * A time without webhooks that begins such a run where the same time of the day and of the week before had ten or more. From 10 to 1440.
   * @default 10
   */
  readonly gapMinutes?: number | Duration;
}

/** The settings `reconcile.users.*`. */
export interface ReconcileUsersProps {
  /**
   * Where an answer has the list, if it is no bare one.
   * @default - `provider.paging.items`
   */
  readonly items?: string;
  /**
   * JMESPath on a listed user.
   * @default "id || user_id"
   */
  readonly id?: string;
  /**
   * JMESPath on a listed user.
   * @default "created_at"
   */
  readonly createdAt?: string;
}

/** The settings `reconcile.accounts.*`. */
export interface ReconcileAccountsProps {
  /**
   * Where an answer has the list, if it is no bare one.
   * @default - `provider.paging.items`
   */
  readonly items?: string;
  /**
   * JMESPath on a listed account.
   * @default "id || account_id"
   */
  readonly id?: string;
  /**
   * JMESPath on a listed account.
   * @default "connected"
   */
  readonly connected?: string;
  /**
   * JMESPath on a listed account.
   * @default "datasource_id"
   */
  readonly datasourceId?: string;
  /**
   * JMESPath on a listed account.
   * @default "created_at"
   */
  readonly createdAt?: string;
  /**
   * JMESPath on a listed account: when it or its data last changed. Set it only where the provider says that new data moves it: an account that was not updated since webhooks were lost is then not read again.
   * @default - not set
   */
  readonly updatedAt?: string;
}
