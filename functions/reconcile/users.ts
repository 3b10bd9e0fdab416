import { CloudWatchClient } from "@aws-sdk/client-cloudwatch";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { jmespathSearch } from "../../adapters/aws/jmespath-search.ts";
import { receivingCounts } from "../../adapters/aws/receiving-counts.ts";
import { batchingReader, batchingWriter } from "../../adapters/dynamodb/batching.ts";
import { documentReader } from "../../adapters/dynamodb/documents.ts";
import { partitions } from "../../adapters/dynamodb/event-table.ts";
import { orphans } from "../../adapters/dynamodb/orphans.ts";
import { readinessRecords, versionedRecords } from "../../adapters/dynamodb/versioned-records.ts";
import { sqsSender } from "../../adapters/sqs/sqs-sender.ts";
import { checkpoint, runRequests } from "../../adapters/streams/checkpoint.ts";
import { fieldsOf, numberOf, textOf, textsOf } from "../../domain/core/parse.ts";
import { parseProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { parseReconcileSettings } from "../../domain/reconcile/reconcile-settings.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { providerClient } from "../runtime/provider-client.ts";
import { providerLists } from "./provider-lists.ts";
import { reconciler } from "./reconciler.ts";

/** The longest window of the rate: each tick gets at least one call, however low the rate is. */
const patienceInSeconds = 60;

const settings = readSettings();
const provider = parseProviderSettings(settings.provider);
const reconcile = parseReconcileSettings(settings.reconcile, settings.ids);
const staleDays = settings.staleDays === undefined ? undefined : numberOf(settings, "staleDays");
const { connectSeconds, headersSeconds, bodySeconds } = provider.timeouts;
const table = new DynamoDBClient({});
const tableName = variable("TABLE_NAME");
const now = () => new Date();
const client = providerClient({ table, secrets: new SecretsManagerClient({}) }, provider, {
  now,
  patienceInSeconds,
});

const cloudWatch = new CloudWatchClient({});
const names = fieldsOf(settings.metrics, "metrics");
const metrics = {
  namespace: variable("METRICS_NAMESPACE"),
  apiId: variable("API_ID"),
  throttled: textOf(names, "throttled"),
  notKept: textOf(names, "notKept"),
  canaries: numberOf(names, "canaries"),
};

const handle = sanitizeErrors(
  reconciler({
    lists: providerLists(client, provider, reconcile),
    search: jmespathSearch,
    checkpoint: checkpoint(table, tableName),
    requests: runRequests(table, tableName),
    versionedRecords: versionedRecords(table, tableName),
    partitions: partitions(table, tableName),
    orphans: orphans(table, tableName),
    readDocuments: documentReader(table, tableName),
    readiness:
      staleDays === undefined
        ? undefined
        : {
            records: readinessRecords(batchingReader(table, tableName), batchingWriter(table, tableName)),
            staleMillis: staleDays * 86_400_000,
          },
    send: sqsSender(new SQSClient({})),
    queueUrls: {
      users: variable("USERS_QUEUE_URL"),
      accounts: variable("ACCOUNTS_QUEUE_URL"),
      "company-accounts": variable("COMPANY_ACCOUNTS_QUEUE_URL"),
      fetch: variable("FETCH_QUEUE_URL"),
    },
    provider,
    settings: reconcile,
    startEndpoints: textsOf(settings, "startEndpoints"),
    receivingCounts: (at) => receivingCounts(cloudWatch, metrics, reconcile.missed, at),
    longestCallInMillis: 1_000 * (patienceInSeconds + connectSeconds + headersSeconds + bodySeconds),
    now,
    log,
  }),
);

export const handler = logged(handle);
