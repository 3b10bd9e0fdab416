import { z } from "zod";
import { eventTypes, kinds } from "../../domain/event/events.ts";
import { headersOf } from "../../domain/event/mapping.ts";
import { longestCallInSeconds, settlingInSeconds } from "../../domain/fetch/provider-settings.ts";
import { answerTypes, erasureTypes } from "../../domain/message/message-types.ts";
import { wants } from "../../domain/message/subscribers.ts";
import { alarmsSchema } from "./alarms-schema.ts";
import { encryptionSchema } from "./encryption-schema.ts";
import { mappingSchema } from "./mapping-schema.ts";
import { isPlaceholder, isPrivate, providerSchema } from "./provider-schema.ts";
import { reconcileSchema } from "./reconcile-schema.ts";
import {
  choice,
  flag,
  listOf,
  remedyOf,
  section,
  text,
  waitingTime,
  wholeNumber,
  workingTime,
} from "./setting-types.ts";
import { webhooksSchema } from "./webhooks-schema.ts";

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

const endpointName = text(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'write an endpoint\'s name, such as "income"');

const messageTypes = [...eventTypes, ...answerTypes, ...erasureTypes];
const typePattern = z
  .string({ error: remedyOf("write a message type as a text") })
  .refine((pattern) => messageTypes.some((type) => wants({ name: "", types: [pattern] }, type)), {
    error: remedyOf(`matches no message; write one of: ${messageTypes.join(", ")}; or a prefix with *`),
  });

const principal = text(
  /^(\d{12}|arn:[a-z-]+:iam::\d{12}:(root|(role|user)\/[\w+=,.@/-]+))$/,
  "write an account's 12 digits, or the ARN of a role or user",
);

const subscriber = section({
  name: text(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'write a name of small letters, digits and "-"').max(40, {
    error: remedyOf("shorten it to 40 characters"),
  }),
  /** Message types: exact, or a prefix that ends in `*`. Absent: everything. */
  types: listOf(typePattern)
    .min(1, { error: remedyOf("name a type, or leave the setting out to get everything") })
    .exactOptional(),
  /** Other accounts, or roles in them, that may read the queue. */
  principals: listOf(principal).default([]),
  retentionDays: waitingTime(1, 14).default(14),
  visibilityTimeoutSeconds: workingTime(1, 43_200).default(60),
});

// Twelve, since the relay's environment names two queue URLs for each and Lambda allows 4 KB of it in all.
const mostSubscribers = 12;

const subscribers = listOf(subscriber)
  .max(mostSubscribers, { error: () => `has too many; keep ${mostSubscribers}, let one of them fan out` })
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    error: "has a name twice; give each subscriber a name of its own",
  })
  .default([]);

function sizes(memoryMb: number, timeoutSeconds: number, longestSeconds = 900) {
  return {
    memoryMb: wholeNumber(128, 10_240).default(memoryMb),
    timeoutSeconds: workingTime(1, longestSeconds).default(timeoutSeconds),
  };
}

function functionSizes(memoryMb: number, timeoutSeconds: number) {
  return section(sizes(memoryMb, timeoutSeconds)).prefault({});
}

const functions = section({
  /** At most 29 s: API Gateway waits no longer. */
  receive: section({
    ...sizes(512, 10, 29),
    /** Kept for each receiver, and the most that it takes: beyond it the provider is asked to send again. */
    reservedConcurrency: wholeNumber(1, 100_000).exactOptional(),
  }).prefault({}),
  store: functionSizes(512, 20),
  relay: functionSizes(512, 60),
  // For ten answers of provider.maxResponseBytes at once and a list of provider.maxDataBytes; see docs/adr/0021.
  fetch: functionSizes(1_024, 60),
  refresh: functionSizes(256, 60),
  register: functionSizes(256, 60),
  reconcile: functionSizes(256, 300),
  archive: functionSizes(512, 300),
  erase: functionSizes(512, 300),
}).prefault({});

const retry = section({
  baseSeconds: waitingTime(1, 900).default(2),
  maxSeconds: waitingTime(1, 900, ", the longest delay of SQS").default(900),
})
  .refine(({ baseSeconds, maxSeconds }) => baseSeconds <= maxSeconds, {
    path: ["maxSeconds"],
    error: "is below retry.baseSeconds; raise it, or lower retry.baseSeconds",
  })
  .prefault({});

// The periods that CloudWatch Logs offers, up to a year.
const logDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365] as const;

/** Everything that a stage can set. Each error names the setting and what to write instead. */
const stageSchema = section({
  /** Whether data outlives mistakes: retained resources, deletion and termination protection. No default. */
  production: flag(": true retains data and protects the stack, false lets it be deleted"),
  provider: providerSchema,
  /** What is asked for when an account becomes connected. */
  startEndpoints: listOf(endpointName)
    .min(1, { error: remedyOf("name at least one endpoint") })
    .default(defaultEndpoints),
  webhooks: webhooksSchema,
  mapping: mappingSchema,
  subscribers,
  relay: section({
    batchSize: wholeNumber(1, 1_000).default(100),
    retryAttempts: wholeNumber(1, 10_000).default(20),
  }).prefault({}),
  fetch: section({
    maxConcurrency: wholeNumber(2, 1_000, ", the limits of an SQS event source").default(5),
    retry,
    /** So long events may take to answer the start of a data fetch, before its endpoints are read anyway. */
    readAfterSeconds: waitingTime(1, 604_800).default(3_600),
    /** So long the provider may fail before tasks are given up. */
    longestOutageHours: waitingTime(1, 10_000).default(72),
  }).prefault({}),
  token: section({
    // More than one new version of a secret in ten minutes exhausts its versions.
    refreshEveryMinutes: waitingTime(10, 1_440).default(15),
    /** Share of the token's lifetime that is left when it is refreshed. */
    marginFraction: z
      .number({ error: remedyOf("set it to a number from 0.05 to 0.9") })
      .min(0.05, { error: remedyOf("set it to a number from 0.05 to 0.9") })
      .max(0.9, { error: remedyOf("set it to a number from 0.05 to 0.9") })
      .default(0.5),
  }).prefault({}),
  reconcile: reconcileSchema,
  register: section({
    /** False for a stage that shares its provider environment: one stage registers its webhooks there. */
    enabled: flag().default(true),
    /** Whether GET on a webhook's path answers its registration, which the specification does not show. */
    readsFirst: flag().default(false),
    everyHours: waitingTime(1, 168).default(24),
  }).prefault({}),
  archive: section({
    /** So long before its queue drops it a dead letter is archived; 336 hours are all of a queue's 14 days. */
    beforeEndHours: waitingTime(2, 336).default(48),
    everyMinutes: waitingTime(5, 1_440).default(60),
  }).prefault({}),
  retention: section({
    eventsDays: waitingTime(4, 3_650, ": duplicates come for 3 days").default(30),
    failuresDays: waitingTime(14, 3_650).default(90),
    /** Dead letters that would have expired in their queue. */
    archiveDays: waitingTime(14, 3_650).default(90),
    logsDays: z.literal(logDays, { error: remedyOf(`set it to one of: ${logDays.join(", ")}`) }).default(30),
  }).prefault({}),
  logs: section({
    /** Whether Lambda writes a line at the start and at the end of each invocation. */
    invocations: flag().default(false),
  }).prefault({}),
  /** `service`: AWS X-Ray traces the functions. */
  tracing: choice(["off", "service"]).default("off"),
  erasure: section({
    /** Whether a user who was deleted at the provider is erased here as well. */
    onDeletion: flag().default(false),
  }).prefault({}),
  functions,
  /** The quota of the account and region: Lambda's "Concurrent executions". A new account has 10. */
  accountConcurrency: wholeNumber(1, 1_000_000).default(10),
  encryption: encryptionSchema,
  alarms: alarmsSchema,
  /** Whether the stage has the dashboard; unset: in production. */
  dashboard: flag().exactOptional(),
  /** Every waiting time of the stack is divided by this, to live through days in minutes: see docs/adr/0020. */
  divideDurationsBy: wholeNumber(1, 10_000).default(1),
});

type Stage = z.output<typeof stageSchema>;

/** What one check across settings read and says where it fails. */
type CrossCheck = {
  readonly reads: readonly (keyof Stage)[];
  readonly holds: (stage: Stage) => boolean;
  readonly path: readonly string[];
  readonly error: string;
};

/** Lambda refuses to reserve them. Source: Lambda developer guide, "Configuring reserved concurrency". */
const alwaysUnreserved = 100;

const secretStaysBehind = {
  holds: ({ mapping, webhooks }: Pick<Stage, "mapping" | "webhooks">) =>
    kinds.every((kind) => !headersOf(mapping[kind]).includes(webhooks.secretHeader.toLowerCase())),
  path: ["webhooks", "secretHeader"],
  error: "carries the secret, which goes to no queue, but the mapping reads it; name another header there",
};

/** What the mapping needs of a stage's settings, whatever else is in them. */
export const mappingPartSchema = z
  .looseObject({ mapping: mappingSchema, webhooks: webhooksSchema })
  .refine(secretStaysBehind.holds, { path: secretStaysBehind.path, error: () => secretStaysBehind.error });

const crossChecks: readonly CrossCheck[] = [
  {
    reads: ["production", "divideDurationsBy"],
    holds: ({ production, divideDurationsBy }) => !production || divideDurationsBy === 1,
    path: ["divideDurationsBy"],
    error: "shortens every wait, which a production stage can't afford; set it to 1, or leave it out",
  },
  ...(["sandbox", "production"] as const).map(
    (environment): CrossCheck => ({
      reads: ["production", "provider"],
      holds: ({ production, provider }) =>
        !production || provider.environment !== environment || !isPlaceholder(provider.baseUrls[environment]),
      path: ["provider", "baseUrls", environment],
      error: "is a placeholder, which a production stage can't call; write the provider's address",
    }),
  ),
  ...(["sandbox", "production"] as const).map(
    (environment): CrossCheck => ({
      reads: ["provider"],
      holds: ({ provider }) => provider.allowPrivateAddresses || !isPrivate(provider.baseUrls[environment]),
      path: ["provider", "baseUrls", environment],
      error: "is a private address; write a public one, or set provider.allowPrivateAddresses to true",
    }),
  ),
  { reads: ["mapping", "webhooks"], ...secretStaysBehind },
  {
    reads: ["webhooks", "retention"],
    holds: ({ webhooks, retention }) => retention.eventsDays * 24 > webhooks.retryHours,
    path: ["retention", "eventsDays"],
    error:
      "is over before the provider's last retry, which would be a new event; raise it over webhooks.retryHours",
  },
  {
    reads: ["functions", "accountConcurrency"],
    holds: ({ functions: { receive }, accountConcurrency }) =>
      receive.reservedConcurrency === undefined ||
      kinds.length * receive.reservedConcurrency <= accountConcurrency - alwaysUnreserved,
    path: ["functions", "receive", "reservedConcurrency"],
    error:
      `is reserved for each of ${kinds.length} receivers, which is over accountConcurrency less the ` +
      `${alwaysUnreserved} that Lambda leaves unreserved; lower it, leave it out, or have the quota raised and set ` +
      "accountConcurrency to it",
  },
  {
    reads: ["production", "alarms"],
    holds: ({ production, alarms }) =>
      !production || alarms.topicArn !== undefined || alarms.emails !== undefined,
    path: ["alarms"],
    error:
      "tell nobody, which a production stage can't afford; write " +
      '{"emails": ["on-call@your.company"]}, or {"topicArn": "arn:aws:sns:…"} for a topic that is there',
  },
  {
    reads: ["encryption", "subscribers"],
    holds: ({ encryption, subscribers: readers }) =>
      encryption.queueKey === undefined || readers.every(({ principals }) => principals.length === 0),
    path: ["encryption", "queueKey"],
    error:
      "can't be used by another account, since nobody can change the policy of AWS's key; leave it out for SSE-SQS, " +
      "set encryption.keyArn to a key of yours, or leave out subscribers' principals",
  },
  {
    reads: ["archive"],
    // Where one run fails, the next still comes in time.
    holds: ({ archive }) => archive.beforeEndHours * 60 >= 2 * archive.everyMinutes,
    path: ["archive", "everyMinutes"],
    error: "leaves less than two runs before a dead letter's end; lower it, or raise archive.beforeEndHours",
  },
  ...(["fetch", "refresh", "register", "reconcile"] as const).map(
    (caller): CrossCheck => ({
      reads: ["provider", "functions"],
      holds: ({ provider, functions: sizes }) =>
        longestCallInSeconds(provider) <=
        sizes[caller].timeoutSeconds - settlingInSeconds(sizes[caller].timeoutSeconds),
      path: ["functions", caller, "timeoutSeconds"],
      error:
        "ends before a slow answer; raise it over the sum of provider.timeouts by a tenth or more, or lower those",
    }),
  ),
];

const acrossSettings = { acrossSettings: true };

/** Whether an issue leaves a check nothing sound to read; another check's finding does not. */
function isInTheWay(issue: z.core.$ZodRawIssue, reads: CrossCheck["reads"]): boolean {
  if (issue.code === "custom" && issue.params === acrossSettings) return false;
  const [part] = issue.path ?? [];
  return part === undefined ? issue.code === "invalid_type" : reads.some((read) => read === part);
}

/** The schema of a stage's settings, defaults merged; a check across settings runs once its parts are in order. */
export const settingsSchema = crossChecks.reduce(
  (schema, { reads, holds, path, error }) =>
    schema.refine(holds, {
      path: [...path],
      error: () => error,
      params: acrossSettings,
      when: ({ issues }) => !issues.some((issue) => isInTheWay(issue, reads)),
    }),
  stageSchema,
);

export type Settings = Stage;
export type ProviderSettings = Settings["provider"];

/** The base address of the environment that the stage uses. */
export function selectedBaseUrl(provider: ProviderSettings): string {
  return provider.baseUrls[provider.environment];
}
