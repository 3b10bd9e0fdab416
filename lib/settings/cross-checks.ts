import { webhookKinds } from "../../domain/event/events.ts";
import { headersOf } from "../../domain/event/mapping.ts";
import { longestCallInSeconds } from "../../domain/fetch/provider-settings.ts";
import { giveUpLimits, longestOutageInHours, reservedSecondsOf } from "../../domain/fetch/task.ts";
import { wants } from "../../domain/message/message.ts";
import { endpointOfDays } from "../../domain/readiness/readiness.ts";
import { isPlaceholder, isPrivate } from "./provider-schema.ts";
import type { Stage } from "./stage-schema.ts";

/** A check across settings: the parts that it reads, and where it reports an error. */
export type CrossCheck = {
  readonly reads: readonly (keyof Stage)[];
  readonly holds: (stage: Stage) => boolean;
  readonly path: readonly string[];
  readonly error: string;
};

/** Lambda always leaves these unreserved. Source: Lambda developer guide, "Configuring reserved concurrency". */
const alwaysUnreserved = 100;

/** Keeps the webhook secret out of the queues. */
export const secretStaysBehind = {
  holds: ({ mapping, webhooks }: Pick<Stage, "mapping" | "webhooks">) =>
    webhookKinds.every((kind) => !headersOf(mapping[kind]).includes(webhooks.secretHeader.toLowerCase())),
  path: ["webhooks", "secretHeader"],
  error: "carries the secret, which goes to no queue, but the mapping reads it; name another header there",
};

/** SQS's maximum retention of a message. */
const longestRetentionInSeconds = 14 * 86_400;

/** Hours for which the provider may fail before waiting tasks become dead letters. */
function longestOutageOf({ retry }: Pick<Stage["fetch"], "retry">): number {
  return longestOutageInHours(retry.maxSeconds, giveUpLimits(longestRetentionInSeconds));
}

/** Conditions between settings of different parts. */
export const crossChecks: readonly CrossCheck[] = [
  {
    reads: ["production", "queues"],
    holds: ({ production, queues }) => !production || queues.visibilityMultiple === 6,
    path: ["queues", "visibilityMultiple"],
    error: "leaves throttled batches too little time in production; leave it out",
  },
  {
    reads: ["production", "divideDurationsBy"],
    holds: ({ production, divideDurationsBy }) => !production || divideDurationsBy === 1,
    path: ["divideDurationsBy"],
    error: "shortens every wait, which is not allowed in a production stage; set it to 1, or leave it out",
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
    reads: ["production", "fetch"],
    holds: ({ production, fetch }) => !production || fetch.longestOutageHours <= longestOutageOf(fetch),
    path: ["fetch", "longestOutageHours"],
    error:
      "is longer than tasks can wait for fetch.retry.maxSeconds at a time before SQS gives them up; " +
      "lower it, or raise fetch.retry.maxSeconds to up to 900",
  },
  {
    reads: ["reading", "subscribers"],
    holds: ({ reading, subscribers: readers }) =>
      reading !== "none" ||
      readers.every(({ name, types, documents }) => {
        return documents === "inline" || !wants({ name, ...(types && { types }) }, "data.updated");
      }),
    path: ["reading"],
    error:
      "lets nobody read the documents that messages refer to; set documents to inline for each subscriber, or leave " +
      "data.updated out of its types",
  },
  {
    reads: ["webhooks"],
    holds: ({ webhooks: { customDomain, sourceAddresses } }) =>
      customDomain?.behindCloudFront !== true || sourceAddresses === undefined,
    path: ["webhooks", "sourceAddresses"],
    error:
      "would be compared with CloudFront's own addresses; leave it out and name them in the web ACL, or leave out " +
      "webhooks.customDomain.behindCloudFront",
  },
  {
    reads: ["webhooks"],
    holds: ({ webhooks: { customDomain } }) =>
      customDomain?.behindCloudFront !== true || customDomain.mutualTls === undefined,
    path: ["webhooks", "customDomain", "mutualTls"],
    error: "would ask CloudFront for a certificate, which presents none; leave it out, or behindCloudFront",
  },
  {
    reads: ["canary", "webhooks"],
    holds: ({ canary, webhooks: { sourceAddresses, customDomain } }) =>
      canary === undefined || (sourceAddresses === undefined && customDomain?.mutualTls === undefined),
    path: ["canary"],
    error:
      "can't send webhooks where only given addresses or certificates may; leave it out, or leave out " +
      "webhooks.sourceAddresses and webhooks.customDomain.mutualTls",
  },
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
      webhookKinds.length * receive.reservedConcurrency <= accountConcurrency - alwaysUnreserved,
    path: ["functions", "receive", "reservedConcurrency"],
    error:
      `is reserved for each of ${webhookKinds.length} receivers, which is over accountConcurrency less the ` +
      `${alwaysUnreserved} that Lambda leaves unreserved; lower it, leave it out, or have the quota raised and set ` +
      "accountConcurrency to it",
  },
  {
    reads: ["production", "alarms"],
    holds: ({ production, alarms }) =>
      !production || alarms.topicArn !== undefined || alarms.emails !== undefined,
    path: ["alarms"],
    error:
      "notify nobody, which is not allowed in a production stage; write " +
      '{"emails": ["on-call@your.company"]}, or {"topicArn": "arn:aws:sns:…"} for an existing topic',
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
    reads: ["erasure", "provider"],
    holds: ({ erasure, provider }) => !erasure.onDeletion || provider.paths.user !== undefined,
    path: ["erasure", "onDeletion"],
    error:
      "needs provider.paths.user, by which a deletion is confirmed before anybody is erased; " +
      "set the provider's path that answers 404 for a user it does not have, or leave onDeletion out",
  },
  {
    reads: ["readiness", "provider"],
    holds: ({ readiness, provider }) =>
      readiness?.endpoints.every((name) => provider.paths.readRange?.[name] === undefined) !== false,
    path: ["readiness", "endpoints"],
    error:
      "has one that provider.paths.readRange reads by ranges of dates, of which none is ever complete; take it out of " +
      "one of them",
  },
  {
    reads: ["readiness"],
    holds: ({ readiness }) =>
      readiness?.minDays === undefined || readiness.endpoints.includes(endpointOfDays),
    path: ["readiness", "minDays"],
    error: `counts the days of ${endpointOfDays}, which readiness.endpoints does not name; add it there, or leave minDays out`,
  },
  {
    reads: ["archive"],
    // If one run fails, the next is still in time.
    holds: ({ archive }) => archive.beforeEndHours * 60 >= 2 * archive.everyMinutes,
    path: ["archive", "everyMinutes"],
    error: "leaves less than two runs before a dead letter's end; lower it, or raise archive.beforeEndHours",
  },
  ...(["fetch", "refresh", "register", "reconcile"] as const).map(
    (caller): CrossCheck => ({
      reads: ["provider", "functions"],
      holds: ({ provider, functions: sizes }) =>
        longestCallInSeconds(provider) <=
        sizes[caller].timeoutSeconds - reservedSecondsOf(sizes[caller].timeoutSeconds),
      path: ["functions", caller, "timeoutSeconds"],
      error:
        "ends before a slow answer; raise it over the sum of provider.timeouts by a tenth or more, or lower those",
    }),
  ),
];
