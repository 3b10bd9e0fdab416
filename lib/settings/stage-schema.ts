import { z } from "zod";
import { readingModes } from "../../domain/read/route.ts";
import { userRules } from "../../domain/readiness/readiness.ts";
import { isHoursOfWeek, readHoursOfWeek } from "./hours-of-week.ts";
import { expression, mappingSchema } from "./mapping-schema.ts";
import { place, providerSchema } from "./provider-schema.ts";
import { recoverySchema } from "./recovery-schema.ts";
import {
  choice,
  endpoint,
  fixedDuration,
  flag,
  listOf,
  remedyOf,
  scalableDuration,
  section,
  text,
  wholeNumber,
} from "./setting-types.ts";
import { subscribersSchema } from "./subscribers-schema.ts";
import { webhooksSchema } from "./webhooks-schema.ts";

/** Whom alarms notify, and thresholds that differ by tenant. */
export const alarmsSchema = section({
  /** An existing SNS topic, whose policy must allow CloudWatch to publish. */
  topicArn: text(
    /^arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/,
    "write the ARN of a standard topic of SNS in the stage's region",
  ).exactOptional(),
  /** Subscribed to a topic that the stack creates; each recipient must confirm its first email. */
  emails: listOf(z.email({ error: remedyOf('write an address, such as "on-call@your.company"') }))
    .min(1, { error: remedyOf("name an address, or leave the setting out") })
    .exactOptional(),
  /** Whether each alarm also notifies `topicArn` when it is over; an own topic gets one notice when all are over. */
  notifyWhenOver: flag().default(true),
  /** Alarm when a subscriber's oldest message has waited this many minutes; at most a quarter of its retention. */
  subscriberBehindMinutes: scalableDuration(1, 10_080, ", a week").default(60),
  /** Alarm after this many hours without a webhook; unset: none. CloudWatch evaluates a week at most. */
  nothingReceivedHours: scalableDuration(1, 168, ", the week that CloudWatch looks back").exactOptional(),
  /** Hours of the week in UTC that count for it; unset: all. */
  receivingSchedule: z
    .string()
    .refine(isHoursOfWeek, {
      error: remedyOf('write days and hours in UTC, such as "mon-fri 07-19", from Monday to Sunday'),
    })
    .exactOptional(),
  /** Alarm after this many webhooks in an hour with a wrong secret, signature or source. Scanners send fewer. */
  refusedPerHour: wholeNumber(1, 1_000_000).default(20),
  /** Alarm when one run of the reconciliation finds this many records that no webhook announced. */
  reconciliationDrift: wholeNumber(1, 1_000_000).default(10),
})
  .refine(({ topicArn, emails }) => topicArn === undefined || emails === undefined, {
    path: ["emails"],
    error: "are for a topic of the stack's own; subscribe them to alarms.topicArn, or leave that out",
  })
  .refine(
    ({ receivingSchedule, nothingReceivedHours }) =>
      receivingSchedule === undefined || nothingReceivedHours !== undefined,
    {
      path: ["receivingSchedule"],
      error: "are those of alarms.nothingReceivedHours; set that too, or leave them out",
    },
  )
  .refine(
    ({ receivingSchedule: hours, nothingReceivedHours: silence }) => {
      if (hours === undefined || silence === undefined || !isHoursOfWeek(hours)) return true;
      const { from, to } = readHoursOfWeek(hours);
      return silence <= to - from;
    },
    {
      path: ["nothingReceivedHours"],
      error: "are more than alarms.receivingSchedule has in a day, and would never pass; lower them",
    },
  )
  .prefault({});

/** ARN of a key, not of an alias. */
const keyArn = text(
  /^arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key\/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
  "write the ARN of a symmetric key of KMS in the stage's region; an alias is none",
);

/** Keys for data at rest, instead of AWS's own keys and SSE-SQS. */
export const encryptionSchema = section({
  /** Customer-managed key for the table, queues, buckets, secrets and logs. */
  keyArn: keyArn.exactOptional(),
  /** Former values of `keyArn`; data under these keys stays readable. */
  previousKeyArns: listOf(keyArn).default([]),
  /** Encrypts only the queues, with AWS's key for SQS in this account. */
  queueKey: z
    .literal("alias/aws/sqs", {
      error: remedyOf('write "alias/aws/sqs", or set encryption.keyArn to a key of yours'),
    })
    .exactOptional(),
})
  .refine(({ keyArn, queueKey }) => keyArn === undefined || queueKey === undefined, {
    path: ["queueKey"],
    error: "is another key for the queues than encryption.keyArn; leave one of them out",
  })
  .refine(({ keyArn, previousKeyArns }) => keyArn === undefined || !previousKeyArns.includes(keyArn), {
    path: ["previousKeyArns"],
    error: "names encryption.keyArn, which is the key in use; leave it out of the list",
  })
  .prefault({});

/** When subscribers learn that an account has enough data to decide; see `domain/readiness/`. */
export const readinessSchema = section({
  endpoints: listOf(endpoint)
    .min(1, { error: remedyOf("name at least one endpoint") })
    .max(10, { error: remedyOf("name at most ten endpoints") })
    .refine((names) => new Set(names).size === names.length, {
      error: remedyOf("name each endpoint once"),
    }),
  deadlineHours: scalableDuration(1, 240, ": SQS keeps a waiting message for 14 days").default(24),
  minDays: wholeNumber(1, 3_650).exactOptional(),
  staleDays: scalableDuration(1, 3_650).exactOptional(),
  users: choice(userRules).default("all"),
}).exactOptional();

/** How the table is compared with the provider's lists; see `domain/state/listing.ts`. */
export const reconcileSchema = section({
  /** Interval between the starts of two runs. */
  everyHours: scalableDuration(1, 168).default(24),
  /** Interval at which an unfinished run continues. */
  tickMinutes: scalableDuration(1, 60).default(5),
  /** Records created more recently are skipped, because their webhook may still come. */
  graceMinutes: scalableDuration(0, 1_440).default(15),
  /** Older data is read again. */
  rereadAfterDays: scalableDuration(1, 3_650).default(30),
  /** A run that finds more deletions within seven days waits for an operator. */
  maxDeletions: section({
    /** Percentage of the accounts that the last complete run listed. */
    percent: wholeNumber(0, 100).default(5),
    atLeast: wholeNumber(0, 1_000_000).default(20),
  }).prefault({}),
  /** Time from the discovery of a deletion to the call that confirms it. */
  askAgainAfterHours: scalableDuration(1, 24).default(6),
  /** Runs that start because webhooks may have been lost; see `domain/reconcile/missed.ts`. */
  missed: section({
    atMostEveryMinutes: scalableDuration(5, 1_440).default(15),
    gapMinutes: scalableDuration(10, 1_440).default(10),
  }).prefault({}),
  users: section({
    items: place.exactOptional(),
    id: expression.default("id || user_id"),
    createdAt: expression.default("created_at"),
  }).prefault({}),
  accounts: section({
    items: place.exactOptional(),
    id: expression.default("id || account_id"),
    connected: expression.default("connected"),
    datasourceId: expression.default("datasource_id"),
    createdAt: expression.default("created_at"),
    /** If set, accounts that have not changed since webhooks were lost are not read again. */
    updatedAt: expression.exactOptional(),
  }).prefault({}),
}).prefault({});

/** The provider's endpoints, as publicly documented. */
const defaultEndpoints = [
  "profile",
  "income",
  "employment",
  "activity",
  "assets",
  "banking-info",
  "bonuses",
  "documents",
  "performance",
  "transactions",
  "trips",
  "vehicles",
  "wallet",
];

function sizes(memoryMb: number, timeoutSeconds: number, longestSeconds = 900) {
  return {
    memoryMb: wholeNumber(128, 10_240).default(memoryMb),
    timeoutSeconds: fixedDuration(1, longestSeconds).default(timeoutSeconds),
  };
}

function functionSizes(memoryMb: number, timeoutSeconds: number) {
  return section(sizes(memoryMb, timeoutSeconds)).prefault({});
}

const functions = section({
  /** At most 29 s, because API Gateway waits no longer. */
  receive: section({
    ...sizes(512, 10, 29),
    /** Reserved concurrency of each receiver, and its limit. Requests above it are answered 503. */
    reservedConcurrency: wholeNumber(1, 100_000).exactOptional(),
  }).prefault({}),
  store: functionSizes(512, 20),
  relay: functionSizes(512, 60),
  // Sized for ten concurrent responses of provider.maxResponseBytes and a list of provider.maxDataBytes; see
  // docs/adr/0003.
  fetch: functionSizes(1_024, 60),
  // The largest response that a function URL streams, 200 MB, takes 100 s.
  read: functionSizes(512, 120),
  refresh: functionSizes(256, 60),
  register: functionSizes(256, 60),
  reconcile: functionSizes(256, 300),
  archive: functionSizes(512, 300),
  erase: functionSizes(512, 300),
}).prefault({});

const retry = section({
  baseSeconds: scalableDuration(1, 900).default(2),
  maxSeconds: scalableDuration(1, 900, ", the longest delay of SQS").default(900),
})
  .refine(({ baseSeconds, maxSeconds }) => baseSeconds <= maxSeconds, {
    path: ["maxSeconds"],
    error: "is below retry.baseSeconds; raise it, or lower retry.baseSeconds",
  })
  .prefault({});

// Retention periods that CloudWatch Logs offers, up to a year.
const logDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365] as const;

/** All settings of a stage. Each error names the setting and what to write instead. */
export const stageSchema = section({
  /** Whether data is retained, with deletion and termination protection. No default. */
  production: flag(": true retains data and protects the stack, false lets it be deleted"),
  provider: providerSchema,
  /** Endpoints to request when an account connects. */
  startEndpoints: listOf(endpoint)
    .min(1, { error: remedyOf("name at least one endpoint") })
    .default(defaultEndpoints),
  webhooks: webhooksSchema,
  mapping: mappingSchema,
  subscribers: subscribersSchema,
  /** How subscribers read documents; absent: by URL where the region has function URLs, otherwise by invoking. */
  reading: choice(readingModes).exactOptional(),
  documents: section({
    /** Maximum bytes of a message with its document; a longer message refers to it. */
    inlineLimit: wholeNumber(1_024, 1_048_576, ", SQS's limit").default(204_800),
  }).prefault({}),
  table: section({
    /** Maximum write units per second; absent: what the account allows a table. */
    maxWriteRequestUnits: wholeNumber(10, 1_000_000).exactOptional(),
  }).prefault({}),
  recovery: recoverySchema,
  relay: section({
    batchSize: wholeNumber(1, 1_000).default(100),
    /** -1: until the change is 20 hours old. */
    retryAttempts: wholeNumber(-1, 10_000).default(-1),
  }).prefault({}),
  fetch: section({
    maxConcurrency: wholeNumber(2, 1_000, ", the limits of an SQS event source").default(5),
    retry,
    /** Time to wait for events after a data fetch was started, before its endpoints are read without them. */
    readAfterSeconds: scalableDuration(1, 604_800).default(3_600),
    /** Minimum time for which tasks are retried while the provider fails. */
    longestOutageHours: scalableDuration(1, 240, ": SQS keeps a task for 14 days").default(72),
  }).prefault({}),
  readiness: readinessSchema,
  token: section({
    // Creating a version of a secret more often than every ten minutes exhausts its versions.
    refreshEveryMinutes: scalableDuration(10, 1_440).default(15),
    /** Share of the token's lifetime that is left when the token is refreshed. */
    marginFraction: z
      .number({ error: remedyOf("set it to a number from 0.05 to 0.9") })
      .min(0.05, { error: remedyOf("set it to a number from 0.05 to 0.9") })
      .max(0.9, { error: remedyOf("set it to a number from 0.05 to 0.9") })
      .default(0.5),
  }).prefault({}),
  reconcile: reconcileSchema,
  register: section({
    /** False for a stage that shares its provider environment, where only one stage registers webhooks. */
    enabled: flag().default(true),
    /** Whether GET on a webhook's path returns its registration, which the specification does not show. */
    readsFirst: flag().default(false),
    everyHours: scalableDuration(1, 168).default(24),
  }).prefault({}),
  archive: section({
    /** Dead letters are archived this long before their queue drops them; 336 hours are a queue's whole 14 days. */
    beforeEndHours: scalableDuration(2, 336).default(48),
    everyMinutes: scalableDuration(5, 1_440).default(60),
  }).prefault({}),
  retention: section({
    eventsDays: scalableDuration(4, 3_650, ": duplicates come for 3 days").default(30),
    failuresDays: scalableDuration(14, 3_650).default(90),
    /** How long the archive keeps dead letters. */
    archiveDays: scalableDuration(14, 3_650).default(90),
    /** Superseded versions of documents; 0: only the newest is kept. */
    documentVersionsDays: scalableDuration(0, 3_650).default(0),
    /** Records of what operators did; unset: without limit. */
    auditDays: scalableDuration(1, 3_650).exactOptional(),
    logsDays: z.literal(logDays, { error: remedyOf(`set it to one of: ${logDays.join(", ")}`) }).default(30),
  }).prefault({}),
  logs: section({
    /** Whether Lambda logs the start and end of each invocation. */
    invocations: flag().default(false),
  }).prefault({}),
  /** `service`: AWS X-Ray traces the functions. */
  tracing: choice(["off", "service"]).default("off"),
  erasure: section({
    /** Whether a user who was deleted at the provider is also erased here. */
    onDeletion: flag().default(false),
  }).prefault({}),
  functions,
  queues: section({
    /** Visibility timeout of a queue, as a multiple of its function's timeout. */
    visibilityMultiple: wholeNumber(2, 6).default(6),
  }).prefault({}),
  /** The quota of the account and region: Lambda's "Concurrent executions". A new account has 10. */
  accountConcurrency: wholeNumber(1, 1_000_000).default(10),
  encryption: encryptionSchema,
  alarms: alarmsSchema,
  /** Sends a synthetic webhook through the pipeline, and raises an alarm if it does not arrive. */
  canary: section({
    everyMinutes: scalableDuration(10, 1_440).default(60),
    /** Maximum time to its queue. At most 14 minutes, because the function waits for it. */
    withinSeconds: fixedDuration(10, 840).default(300),
  }).exactOptional(),
  /** Whether the stage has the dashboard. */
  dashboard: flag().default(false),
  /** Divides every waiting time of the stack, so that days pass in minutes; see docs/adr/0009. */
  divideDurationsBy: wholeNumber(1, 10_000).default(1),
});

export type Stage = z.output<typeof stageSchema>;
