import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { type WebhookKind, webhookKinds } from "../domain/event/events.ts";
import { countedNames } from "../domain/event/mapping.ts";
import type { Erasure } from "./erasure/erasure.ts";
import { pipelineName } from "./instance.ts";
import { pascalCase } from "./names.ts";
import type { AlarmTopic } from "./observability/alarm-topic.ts";
import type { Dashboard } from "./observability/dashboard.ts";
import { addOutput } from "./output.ts";
import type { Fetching } from "./provider/fetching.ts";
import type { Reconciliation } from "./provider/reconciliation.ts";
import type { TokenRefresh } from "./provider/token-refresh.ts";
import type { WebhookRegistration } from "./provider/webhook-registration.ts";
import type { Readiness } from "./readiness/readiness.ts";
import type { ReadApi } from "./reading/read-api.ts";
import type { WebhookEndpoint } from "./receiving/webhook-endpoint.ts";
import type { WebhooksDomain } from "./receiving/webhooks-domain.ts";
import type { WorkQueue } from "./receiving/work-queue.ts";
import type { Relay } from "./relay/relay.ts";
import type { Subscribers } from "./relay/subscribers.ts";
import { packSettings, type Settings, settingsDigest } from "./settings/settings.ts";
import type { DeadLetterArchive } from "./storage/dead-letter-archive.ts";
import type { EventTable } from "./storage/event-table.ts";
import type { OverflowStorage } from "./storage/overflow-storage.ts";
import type { TokenSecret, WebhookSecret } from "./storage/secrets.ts";

type OutputParts = {
  readonly stage: string;
  readonly settings: Settings;
  /** The settings as written. */
  readonly written: Settings;
  readonly webhooksUrl: string;
  /** Undefined if webhooks are sent to the API's own address. */
  readonly domain: WebhooksDomain | undefined;
  readonly receiving: ReadonlyMap<WebhookKind, WebhookEndpoint>;
  readonly fetching: Fetching;
  /** Undefined without the setting `readiness`. */
  readonly readiness: Readiness | undefined;
  readonly subscribers: Subscribers;
  readonly table: EventTable;
  readonly token: TokenSecret;
  readonly secret: WebhookSecret;
  readonly overflow: OverflowStorage;
  readonly erasure: Erasure;
  readonly relay: Relay;
  readonly readApi: ReadApi;
  readonly refresh: TokenRefresh;
  /** Undefined if another stage registers the webhooks. */
  readonly registration: WebhookRegistration | undefined;
  readonly reconciliation: Reconciliation;
  readonly archive: DeadLetterArchive;
  readonly topic: AlarmTopic;
  /** Undefined without the setting `dashboard`. */
  readonly dashboard: Dashboard | undefined;
};

/** Outputs every address and queue that a person or a program needs next. The names of outputs are a contract. */
export function addOutputs(scope: Construct, parts: OutputParts): void {
  const add = (id: string, value: string, description: string) =>
    addOutput(scope, id, { value, description });
  const addQueues = (name: string, { queue, deadLetterQueue }: WorkQueue, what: string) => {
    add(`${name}QueueUrl`, queue.queueUrl, `Queue of ${what}`);
    add(`${name}QueueArn`, queue.queueArn, `ARN of the queue of ${what}`);
    add(`${name}DeadLetterQueueUrl`, deadLetterQueue.queueUrl, `Dead letters of ${what}`);
  };

  add("Stage", parts.stage, "Name of the pipeline in its messages and for commands");
  add("WebhooksUrl", parts.webhooksUrl, "Base address of the webhooks, with one path for each kind");
  if (parts.domain !== undefined) {
    add("WebhooksDomainTarget", parts.domain.target, "Target of the DNS record of the webhooks' domain name");
  }
  for (const [kind, { work }] of parts.receiving) addQueues(pascalCase(kind), work, `events of ${kind}`);
  addQueues("Fetch", parts.fetching.work, "calls to the provider's API");
  addQueues("Checks", parts.fetching.checks, "checks of fetch starts");
  if (parts.readiness !== undefined)
    addQueues("Deadlines", parts.readiness.work, "deadlines of accounts that are not ready");
  addQueues("Erase", parts.erasure.work, "erasures");
  for (const [name, work] of parts.subscribers.queues) {
    addQueues(`Subscriber${pascalCase(name)}`, work, `messages to the subscriber ${name}`);
  }
  add(
    "Subscribers",
    Stack.of(scope).toJsonString(describeSubscribers(parts)),
    "Filter and queues of each subscriber",
  );
  const names = webhookKinds.flatMap((kind) => countedNames(parts.settings.mapping[kind]));
  if (names.length > 0) {
    const ignored = { namespace: pipelineName(scope), names: [...new Set(names)] };
    add("IgnoredEvents", Stack.of(scope).toJsonString(ignored), "Names by which ignored events are counted");
  }
  add("MetricsNamespace", pipelineName(scope), "Namespace of the pipeline's metrics in CloudWatch");
  add("DocumentsUrl", parts.readApi.url, "Base address at which subscribers read states and documents");
  if (parts.readApi.lambda !== undefined) {
    const how = parts.readApi.mode === "url" ? "by its URL" : "by the alias with the name of its subscriber";
    const { functionArn } = parts.readApi.lambda;
    add(
      "DocumentsFunctionArn",
      functionArn,
      `Function that a reader's role must be allowed to invoke ${how}`,
    );
  }
  add("SettingsDigest", settingsDigest(parts.written), "Digest of the deployed settings");
  const packed = packSettings(parts.written);
  if (packed !== undefined) add("SettingsPacked", packed, "The deployed settings, compressed");
  add("TableName", parts.table.table.tableName, "Events, states and data");
  add("TokenSecretArn", parts.token.secret.secretArn, "The provider's token; set the first one here");
  const { requestsPerMinute } = parts.settings.provider;
  add("ProviderRequestsPerMinute", String(requestsPerMinute), "Maximum rate of all calls to the provider");
  add(
    "WebhookSecretArn",
    parts.secret.secret.secretArn,
    "The webhooks' secret, from which each kind's header value is derived",
  );
  add(
    "WebhookSecretHeader",
    parts.settings.webhooks.secretHeader,
    "The header that carries the webhooks' secret",
  );
  const { secretScheme } = parts.settings.webhooks;
  if (secretScheme !== undefined)
    add("WebhookSecretScheme", secretScheme, "The scheme before the secret in its header");
  add("OverflowBucketName", parts.overflow.bucket.bucketName, "Bodies and data too large for the table");
  add("ErasureLogBucketName", parts.erasure.log.bucketName, "Digests of erased subjects");
  add("ErasureKeyArn", parts.erasure.key.secretArn, "The key of those digests");
  const { auditDays } = parts.settings.retention;
  if (auditDays !== undefined)
    add("AuditDays", String(auditDays), "Days that records of operators' actions are retained");
  const { documentVersionsDays } = parts.settings.retention;
  if (documentVersionsDays > 0)
    add("DocumentVersionsDays", String(documentVersionsDays), "Days that superseded documents are retained");
  add("FailuresBucketName", parts.relay.failures.bucketName, "Changes that the relay gave up on");
  add(
    "RelayFunctionName",
    parts.relay.lambda.functionName,
    "Derives messages and tasks from changes of the table",
  );
  add("RefreshFunctionName", parts.refresh.lambda.functionName, "Refreshes the token when invoked");
  add(
    "ReconcileFunctionName",
    parts.reconciliation.lambda.functionName,
    "Compares the provider's list with the table when invoked, if a run is due",
  );
  add("ArchiveBucketName", parts.archive.bucket.bucketName, "Dead letters that would have expired");
  add("ArchiveFunctionName", parts.archive.lambda.functionName, "Archives dead letters that near their end");
  if (parts.topic.topicArn !== undefined)
    add("AlarmTopicArn", parts.topic.topicArn, "Topic that alarms notify");
  if (parts.dashboard !== undefined)
    add("DashboardName", parts.dashboard.dashboard.dashboardName, "The dashboard of the data flow");
  if (parts.registration === undefined) return;
  const { lambda, rotation } = parts.registration;
  add("RegisterFunctionName", lambda.functionName, "Registers webhooks when invoked");
  add("WebhookSecretRotation", JSON.stringify(rotation), "How long a rotation of the webhooks' secret takes");
}

/** Filter and queues of each subscriber, for programs. */
function describeSubscribers({ settings, subscribers }: OutputParts): readonly object[] {
  return settings.subscribers.map(({ name, types, principals }) => ({
    name,
    ...(types && { types }),
    ...(principals.length > 0 && { principals }),
    queueUrl: subscribers.queues.get(name)?.queue.queueUrl,
    deadLetterQueueUrl: subscribers.queues.get(name)?.deadLetterQueue.queueUrl,
  }));
}
