// Written by `npm run docs` from the schema of the settings and docs/reference/settings.md.
import type { Duration } from "aws-cdk-lib";
import type { IPrincipal } from "aws-cdk-lib/aws-iam";
import type { FunctionsProps } from "./functions.ts";
import type { MappingProps } from "./mapping.ts";
import type { ProviderProps } from "./provider.ts";
import type { ReconcileProps } from "./reconcile.ts";
import type { RetentionProps } from "./retention.ts";
import type { WebhooksProps } from "./webhooks.ts";

/** Every setting of a stage: the keys of a settings file. */
export interface SettingsProps {
  /** `true`: the data is retained when the stack is deleted, and the stack is protected from deletion. `false`: deleting the stack deletes its data. */
  readonly production: boolean;
  /** The settings `provider.*`. */
  readonly provider?: ProviderProps;
  /**
   * Endpoints to start, or to read, when an account connects.
   * @default ["profile","income","employment","activity","assets","banking-info","bonuses","documents","performance","transactions","trips","vehicles","wallet"]
   */
  readonly startEndpoints?: readonly string[];
  /** The settings `webhooks.*`. */
  readonly webhooks?: WebhooksProps;
  /** The settings `mapping.*`. */
  readonly mapping?: MappingProps;
  /**
   * A subscriber: a queue with a dead-letter queue of its own.
   * @default []
   */
  readonly subscribers?: readonly SubscriberProps[];
  /**
   * How subscribers read documents. `url`: at a function URL, the default. `invoke`: by invoking a function, in every region and without internet access, up to 6 MB; the default in a region without function URLs. `none`: only in messages (which to choose).
   * @default - by the region
   */
  readonly reading?: "url" | "invoke" | "none";
  /** The settings `documents.*`. */
  readonly documents?: DocumentsProps;
  /** The settings `table.*`. */
  readonly table?: TableProps;
  /** The settings `recovery.*`. */
  readonly recovery?: RecoveryProps;
  /** The settings `relay.*`. */
  readonly relay?: RelayProps;
  /** The settings `fetch.*`. */
  readonly fetch?: FetchProps;
  /** The settings `readiness.*`. */
  readonly readiness?: ReadinessProps;
  /** The settings `token.*`. */
  readonly token?: TokenProps;
  /** The settings `reconcile.*`. */
  readonly reconcile?: ReconcileProps;
  /** The settings `register.*`. */
  readonly register?: RegisterProps;
  /** The settings `archive.*`. */
  readonly archive?: ArchiveProps;
  /** The settings `retention.*`. */
  readonly retention?: RetentionProps;
  /** The settings `logs.*`. */
  readonly logs?: LogsProps;
  /**
   * `service`: AWS X-Ray traces all functions (logs.md). `off`: no traces.
   * @default "off"
   */
  readonly tracing?: "off" | "service";
  /** The settings `erasure.*`. */
  readonly erasure?: ErasureProps;
  /** The settings `functions.*`. */
  readonly functions?: FunctionsProps;
  /** The settings `queues.*`. */
  readonly queues?: QueuesProps;
  /**
   * The account's quota of concurrent executions. Reservations are checked against it. The four consumers that store events share half of it, with at least two each. From 1 to 1000000.
   * @default 10
   */
  readonly accountConcurrency?: number;
  /** The settings `encryption.*`. */
  readonly encryption?: EncryptionProps;
  /** The settings `alarms.*`. */
  readonly alarms?: AlarmsProps;
  /** The settings `canary.*`. */
  readonly canary?: CanaryProps;
  /**
   * `true` creates a CloudWatch dashboard of the data flow, for US$ 3 a month plus the metrics that only it uses.
   * @default false
   */
  readonly dashboard?: boolean;
  /**
   * Divides every waiting time of the stack, as in the stage `compressed`. Refused in production. From 1 to 10000.
   * @default 1
   */
  readonly divideDurationsBy?: number;
}

/** A subscriber: a queue with a dead-letter queue of its own. */
export interface SubscriberProps {
  /** Name of the subscriber, which its outputs contain: `risk-team` has `SubscriberRiskTeamQueueUrl` and `…QueueArn`. */
  readonly name: string;
  /**
   * Message types to deliver (events.md), or prefixes such as `account.*`.
   * @default - everything
   */
  readonly types?: readonly string[];
  /**
   * `inline`: `data.updated` contains the document if the message stays within `documents.inlineLimit`. `reference`: it contains the address of the document.
   * @default "reference"
   */
  readonly documents?: "reference" | "inline";
  /**
   * Accounts (12 digits), roles or users (ARNs) that may consume the queue over TLS, and read states and documents.
   * @default []
   */
  readonly principals?: readonly (string | IPrincipal)[];
  /**
   * Days for which the queue keeps a message; at least five times `visibilityTimeoutSeconds`, or SQS would drop a failing message before it becomes a dead letter. From 1 to 14.
   * @default 14
   */
  readonly retentionDays?: number | Duration;
  /**
   * Visibility timeout of the queue, in seconds. Set it to six times the function's timeout if Lambda reads the queue. From 1 to 43200.
   * @default 60
   */
  readonly visibilityTimeoutSeconds?: number | Duration;
}

/** The settings `documents.*`. */
export interface DocumentsProps {
  /**
   * Maximum size in bytes of a message with its document. A longer message refers to the document. At most 1048576, SQS's limit. From 1024 to 1048576.
   * @default 204800
   */
  readonly inlineLimit?: number;
}

/** The settings `table.*`. */
export interface TableProps {
  /**
   * Maximum write units of the table per second. DynamoDB throttles writes above it, and they are retried. An event takes about two units. The limit bounds the cost of a bug, or of a flood with a valid secret. From 10 to 1000000.
   * @default - what the account allows
   */
  readonly maxWriteRequestUnits?: number;
}

/** The settings `recovery.*`. */
export interface RecoveryProps {
  /** ARN of the vault that gets the copies. `RecoveryVaultStack` creates one. */
  readonly vaultArn: string;
  /**
   * Hours between backups, counted from 0:00 UTC. From 1 to 24.
   * @default 24
   */
  readonly everyHours?: number | Duration;
  /**
   * Days to keep backups and their copies. Backups contain erased data for this long. From 1 to 3650.
   * @default 35
   */
  readonly keepDays?: number | Duration;
}

/** The settings `relay.*`. */
export interface RelayProps {
  /**
   * Maximum table changes that the relay handles in one batch. From 1 to 1000.
   * @default 100
   */
  readonly batchSize?: number;
  /**
   * Maximum retries of a failing change before it goes to the failures bucket; -1 retries until the change is 20 hours old. From -1 to 10000.
   * @default -1
   */
  readonly retryAttempts?: number;
}

/** The settings `fetch.*`. */
export interface FetchProps {
  /**
   * Maximum concurrent invocations of the fetch function. From 2 to 1000.
   * @default 5
   */
  readonly maxConcurrency?: number;
  /** The settings `fetch.retry.*`. */
  readonly retry?: FetchRetryProps;
  /**
   * After a data fetch is started, wait this long for the provider's events, then read its endpoints without them. From 1 to 604800.
   * @default 3600
   */
  readonly readAfterSeconds?: number | Duration;
  /**
   * Retry a task for at least this many hours while the provider fails, and for exactly this many while it answers that the data is not ready. After that the task becomes a dead letter; at most 240. From 1 to 240.
   * @default 72
   */
  readonly longestOutageHours?: number | Duration;
}

/** The settings `fetch.retry.*`. */
export interface FetchRetryProps {
  /**
   * Upper bound of the first back-off. It doubles with each failed attempt of a task. From 1 to 900.
   * @default 2
   */
  readonly baseSeconds?: number | Duration;
  /**
   * Maximum delay between two attempts of a task. From 1 to 900.
   * @default 900
   */
  readonly maxSeconds?: number | Duration;
}

/** The settings `readiness.*`. */
export interface ReadinessProps {
  /** Endpoints that must have a document for each connected account, such as `["income", "employment"]`: one to ten. Company accounts have no readiness. An endpoint of `provider.paths.readRange` is refused. */
  readonly endpoints: readonly string[];
  /**
   * Hours from the connection to `account.incomplete`. SQS lets at most 120,000 accounts wait at a time, so with 24 hours up to 5,000 accounts an hour may end incomplete. From 1 to 240.
   * @default 24
   */
  readonly deadlineHours?: number | Duration;
  /**
   * Days that the `income` document must cover, from the first `date_start` of its records to the last `date_end`. From 1 to 3650.
   * @default - none
   */
  readonly minDays?: number | Duration;
  /**
   * Send `account.stale` when a connected account has had no new data for this many days. Each comparison with the provider checks (`reconcile.everyHours`). From 1 to 3650.
   * @default - none
   */
  readonly staleDays?: number | Duration;
  /**
   * When `user.ready` is sent: once `all` of the user's connected accounts are ready or incomplete, or `any` of them.
   * @default "all"
   */
  readonly users?: "all" | "any";
}

/** The settings `token.*`. */
export interface TokenProps {
  /**
   * Interval between checks of the token; at least 10, because Secrets Manager limits how many versions a secret can have. From 10 to 1440.
   * @default 15
   */
  readonly refreshEveryMinutes?: number | Duration;
  /**
   * Refresh the token when this share of its lifetime is left, or three check intervals and five minutes if that is longer. From 0.05 to 0.9.
   * @default 0.5
   */
  readonly marginFraction?: number;
}

/** The settings `register.*`. */
export interface RegisterProps {
  /**
   * `false` for a stage that shares its provider environment with a stage that registers webhooks.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * `true` if the provider answers `GET` on a webhook's path with `{"url": …}`. A registration then replaces the webhooks of another stage, in any account, only with `--take-over`.
   * @default false
   */
  readonly readsFirst?: boolean;
  /**
   * Interval between registrations of the webhooks. From 1 to 168.
   * @default 24
   */
  readonly everyHours?: number | Duration;
}

/** The settings `archive.*`. */
export interface ArchiveProps {
  /**
   * Archive a dead letter this many hours before its queue drops it; 336 archives all. From 2 to 336.
   * @default 48
   */
  readonly beforeEndHours?: number | Duration;
  /**
   * Interval between searches of the dead-letter queues. From 5 to 1440.
   * @default 60
   */
  readonly everyMinutes?: number | Duration;
}

/** The settings `logs.*`. */
export interface LogsProps {
  /**
   * `true` keeps Lambda's log lines at the start and end of each invocation, with its duration and memory; `false` keeps those of failures only.
   * @default false
   */
  readonly invocations?: boolean;
}

/** The settings `erasure.*`. */
export interface ErasureProps {
  /**
   * `true` also erases here a user who was deleted at the provider, with all accounts, as `erase user` does. The provider must first confirm that the user is gone, so set `provider.paths.user`.
   * @default false
   */
  readonly onDeletion?: boolean;
}

/** The settings `queues.*`. */
export interface QueuesProps {
  /**
   * Visibility timeout of a queue as a multiple of its function's timeout: 2 to 6. Production requires AWS's 6. A lower value retries sooner after a function was killed. From 2 to 6.
   * @default 6
   */
  readonly visibilityMultiple?: number;
}

/** The settings `encryption.*`. */
export interface EncryptionProps {
  /**
   * ARN of a KMS key for the table, queues, buckets, secrets and logs.
   * @default - AWS's own keys
   */
  readonly keyArn?: string;
  /**
   * Former values of `keyArn`. Functions and `grantConsume` may still decrypt with them; without them, data under those keys can't be read.
   * @default []
   */
  readonly previousKeyArns?: readonly string[];
  /**
   * `alias/aws/sqs` encrypts only the queues, with AWS's key. Refused if another account reads a queue.
   * @default - SSE-SQS
   */
  readonly queueKey?: "alias/aws/sqs";
}

/** The settings `alarms.*`. */
export interface AlarmsProps {
  /**
   * ARN of an existing SNS topic in the stage's region, instead of `emails`.
   * @default - none
   */
  readonly topicArn?: string;
  /**
   * Email addresses to notify when an alarm is raised and when all alarms are over. The stack creates the topic; each recipient must confirm the subscription in its first email.
   * @default - none
   */
  readonly emails?: readonly string[];
  /**
   * `true` also notifies `topicArn` when an alarm is over, so that a paging service closes its incident; a new alarm sends one such notice, too. `emails` get one notice when all alarms are over.
   * @default true
   */
  readonly notifyWhenOver?: boolean;
  /**
   * Alarm when a subscriber's oldest message has waited this many minutes, or a quarter of the subscriber's `retentionDays` if that is less; at most 10080. From 1 to 10080.
   * @default 60
   */
  readonly subscriberBehindMinutes?: number | Duration;
  /**
   * Alarm after this many hours without a webhook; at most 168. If unset, there is no such alarm. From 1 to 168.
   * @default - none
   */
  readonly nothingReceivedHours?: number | Duration;
  /**
   * Days and hours in UTC that count for `alarms.nothingReceivedHours`, such as `mon-fri 07-19`. Counting starts anew each day.
   * @default - the whole week
   */
  readonly receivingSchedule?: string;
  /**
   * Alarm after this many webhooks in an hour with a wrong secret, signature or source address. From 1 to 1000000.
   * @default 20
   */
  readonly refusedPerHour?: number;
  /**
   * Alarm when one reconciliation run finds this many records that no webhook announced. From 1 to 1000000.
   * @default 10
   */
  readonly reconciliationDrift?: number;
}

/** The settings `canary.*`. */
export interface CanaryProps {
  /**
   * Minutes between two synthetic webhooks that test the whole stage; 10 to 1440. Write `"canary": {}` for the defaults. Without `canary` none is sent. From 10 to 1440.
   * @default 60
   */
  readonly everyMinutes?: number | Duration;
  /**
   * Alarm when a synthetic webhook takes longer than this to its queue; 10 to 840. From 10 to 840.
   * @default 300
   */
  readonly withinSeconds?: number | Duration;
}
