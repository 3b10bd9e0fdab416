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
  /** True: data outlives the stack, which is protected; false: the stack can be removed with all that it holds. */
  readonly production: boolean;
  /** The settings `provider.*`. */
  readonly provider?: ProviderProps;
  /**
   * The endpoints that are started, or read, when an account connects.
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
   * How subscribers read documents: `url`, at a function's URL; `invoke`, by invoking a function, in every region and without the internet, up to 6 MB; `none`, only in their messages. By default `url`, and `invoke` in a region without function URLs (which to choose).
   * @default - by the region
   */
  readonly reading?: "url" | "invoke" | "none";
  /** The settings `documents.*`. */
  readonly documents?: DocumentsProps;
  /** The settings `table.*`. */
  readonly table?: TableProps;
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
   * `service`: AWS X-Ray traces all functions: logs.md.
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
   * The account's quota of concurrent executions: reservations are checked against it, and the four consumers that store events share half of it, two each at least. From 1 to 1000000.
   * @default 10
   */
  readonly accountConcurrency?: number;
  /** The settings `encryption.*`. */
  readonly encryption?: EncryptionProps;
  /** The settings `alarms.*`. */
  readonly alarms?: AlarmsProps;
  /**
   * True or false: a dashboard of the data flow, for US$ 3 a month and those of the metrics that only it shows.
   * @default false
   */
  readonly dashboard?: boolean;
  /**
   * Divides every waiting time of the stack, as the stage `compressed` does; refused in production. From 1 to 10000.
   * @default 1
   */
  readonly divideDurationsBy?: number;
}

/** A subscriber: a queue with a dead-letter queue of its own. */
export interface SubscriberProps {
  /** Names the queue's outputs: `risk-team` has `SubscriberRiskTeamQueueUrl` and `…QueueArn`. */
  readonly name: string;
  /**
   * Message types (events.md), or prefixes such as `account.*`.
   * @default - everything
   */
  readonly types?: readonly string[];
  /**
   * `inline`: `data.updated` holds the document itself, as far as the message stays within `documents.inlineLimit`; `reference`: it says where the document is read.
   * @default "reference"
   */
  readonly documents?: "reference" | "inline";
  /**
   * Accounts (12 digits), or roles and users (ARNs), that may receive and delete messages, change their visibility, and read the queue's attributes and URL, over TLS; and that may read states and documents, see below.
   * @default []
   */
  readonly principals?: readonly (string | IPrincipal)[];
  /**
   * So long a message waits; at least five times `visibilityTimeoutSeconds`, or SQS would drop a message that fails before it is a dead letter. From 1 to 14.
   * @default 14
   */
  readonly retentionDays?: number | Duration;
  /**
   * So long a message that was received is hidden; six times a function's timeout where Lambda reads the queue. From 1 to 43200.
   * @default 60
   */
  readonly visibilityTimeoutSeconds?: number | Duration;
}

/** The settings `documents.*`. */
export interface DocumentsProps {
  /**
   * Bytes of a whole message with its document; a longer one refers to it. At most 1048576, SQS's limit. From 1024 to 1048576.
   * @default 204800
   */
  readonly inlineLimit?: number;
}

/** The settings `table.*`. */
export interface TableProps {
  /**
   * The most that is written to the table in a second, in write units: DynamoDB throttles what exceeds it, and it is tried again. An event takes about two units. It bounds what a bug, or a flood with the right secret, costs. From 10 to 1000000.
   * @default - what the account allows
   */
  readonly maxWriteRequestUnits?: number;
}

/** The settings `relay.*`. */
export interface RelayProps {
  /**
   * So many changes of the table are relayed at once. From 1 to 1000.
   * @default 100
   */
  readonly batchSize?: number;
  /**
   * How often a change that fails is tried again before it goes to the failures bucket; -1: until it is 20 hours old. From -1 to 10000.
   * @default -1
   */
  readonly retryAttempts?: number;
}

/** The settings `fetch.*`. */
export interface FetchProps {
  /**
   * Environments of the fetch function at once. From 2 to 1000.
   * @default 5
   */
  readonly maxConcurrency?: number;
  /** The settings `fetch.retry.*`. */
  readonly retry?: FetchRetryProps;
  /**
   * So long events may take to answer the start of a data fetch, before its endpoints are read anyway. From 1 to 604800.
   * @default 3600
   */
  readonly readAfterSeconds?: number | Duration;
  /**
   * So long the provider may fail, at least, before tasks are given up, and exactly so long it may answer that data is not ready; 240 at most. From 1 to 240.
   * @default 72
   */
  readonly longestOutageHours?: number | Duration;
}

/** The settings `fetch.retry.*`. */
export interface FetchRetryProps {
  /**
   * The back-off's first ceiling; doubles with each failed attempt of a task. From 1 to 900.
   * @default 2
   */
  readonly baseSeconds?: number | Duration;
  /**
   * The longest that a task is hidden at once. From 1 to 900.
   * @default 900
   */
  readonly maxSeconds?: number | Duration;
}

/** The settings `readiness.*`. */
export interface ReadinessProps {
  /** Endpoints of which each connected account must have a document, such as `["income", "employment"]`: one to ten. An endpoint of `provider.paths.readRange` is refused. */
  readonly endpoints: readonly string[];
  /**
   * The time from the connection to `account.incomplete`. At most 120,000 accounts wait at once, the limit of SQS, so with 24 hours 5,000 an hour may end incomplete. From 1 to 240.
   * @default 24
   */
  readonly deadlineHours?: number | Duration;
  /**
   * Days that the document of `income` must cover: from the first `date_start` of its records to the last `date_end`. From 1 to 3650.
   * @default - none
   */
  readonly minDays?: number | Duration;
}

/** The settings `token.*`. */
export interface TokenProps {
  /**
   * The time between two looks at the token; at least 10, for Secrets Manager's sake. From 10 to 1440.
   * @default 15
   */
  readonly refreshEveryMinutes?: number | Duration;
  /**
   * The share of its lifetime that is left when it is refreshed; never less than three looks and five minutes. From 0.05 to 0.9.
   * @default 0.5
   */
  readonly marginFraction?: number;
}

/** The settings `register.*`. */
export interface RegisterProps {
  /**
   * False for a stage that shares its provider environment with one that registers.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * True where the provider answers `GET` on a webhook's path with `{"url": …}`: webhooks of another stage, of any account, are then not taken without `--take-over`.
   * @default false
   */
  readonly readsFirst?: boolean;
  /**
   * How often the webhooks are registered again. From 1 to 168.
   * @default 24
   */
  readonly everyHours?: number | Duration;
}

/** The settings `archive.*`. */
export interface ArchiveProps {
  /**
   * So long before its end a dead letter is archived; 336 archives all. From 2 to 336.
   * @default 48
   */
  readonly beforeEndHours?: number | Duration;
  /**
   * How often the dead-letter queues are looked through. From 5 to 1440.
   * @default 60
   */
  readonly everyMinutes?: number | Duration;
}

/** The settings `logs.*`. */
export interface LogsProps {
  /**
   * True: Lambda writes its line at the start and at the end of each invocation, too, with the time and the memory that it took; false: of failures only.
   * @default false
   */
  readonly invocations?: boolean;
}

/** The settings `erasure.*`. */
export interface ErasureProps {
  /**
   * True: a user who was deleted at the provider is erased here as well, with all accounts, as by `erase user`. The provider is always asked first whether the user is gone, so `provider.paths.user` must be set.
   * @default false
   */
  readonly onDeletion?: boolean;
}

/** The settings `queues.*`. */
export interface QueuesProps {
  /**
   * So many times a function's time-out a message is hidden while the function works on it, 2 to 6. Production has AWS's 6; less brings back sooner what a killed function had received. From 2 to 6.
   * @default 6
   */
  readonly visibilityMultiple?: number;
}

/** The settings `encryption.*`. */
export interface EncryptionProps {
  /**
   * A key of yours for the table, queues, buckets, secrets and logs.
   * @default - AWS's own keys
   */
  readonly keyArn?: string;
  /**
   * Former values of `keyArn`, which the functions and `grantConsume` may still decrypt with; without them what these keys encrypted can't be read.
   * @default []
   */
  readonly previousKeyArns?: readonly string[];
  /**
   * `alias/aws/sqs`: the queues alone; refused where another account reads one.
   * @default - SSE-SQS
   */
  readonly queueKey?: "alias/aws/sqs";
}

/** The settings `alarms.*`. */
export interface AlarmsProps {
  /**
   * A topic of SNS that is there already, in the stage's region, in the place of `emails`.
   * @default - none
   */
  readonly topicArn?: string;
  /**
   * Addresses that are notified when an alarm goes off and when all are over, through a topic of the stack's own; each must follow the link of its first mail.
   * @default - none
   */
  readonly emails?: readonly string[];
  /**
   * True or false: each alarm also notifies `topicArn` when it is over, so that a paging service closes its incident (a new alarm does so once, too); `emails` get one notice when all are over.
   * @default true
   */
  readonly notifyWhenOver?: boolean;
  /**
   * Raises an alarm when a subscriber's oldest message has waited this many minutes, or a quarter of the subscriber's `retentionDays`; 10080 at most. From 1 to 10080.
   * @default 60
   */
  readonly subscriberBehindMinutes?: number | Duration;
  /**
   * Raises an alarm after this many hours without a webhook; 168 at most. Without it silence raises none. From 1 to 168.
   * @default - none
   */
  readonly nothingReceivedHours?: number | Duration;
  /**
   * Days and hours in UTC in which `alarms.nothingReceivedHours` are counted, such as `mon-fri 07-19`; they begin anew each day.
   * @default - the whole week
   */
  readonly receivingSchedule?: string;
  /**
   * So many webhooks with a wrong secret, signature or source in an hour raise the alarm. From 1 to 1000000.
   * @default 20
   */
  readonly refusedPerHour?: number;
  /**
   * So many records that no webhook announced, found in one run of the reconciliation, raise the alarm. From 1 to 1000000.
   * @default 10
   */
  readonly reconciliationDrift?: number;
}
