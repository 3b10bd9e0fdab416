import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { webhookSecretStore } from "../../adapters/secrets/webhook-secret.ts";
import { fieldsOf, isFields, numberOf, optionalBoolean } from "../../domain/core/parse.ts";
import { parseSecretHeader } from "../../domain/core/webhook-secret.ts";
import { parseProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { parseIsNewer, parseOwnWebhooks } from "../../domain/reconcile/registrations.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { providerClient } from "../runtime/provider-client.ts";
import { listWebhooks } from "./list-webhooks.ts";
import { registrar } from "./registrar.ts";

const settings = readSettings();
const provider = parseProviderSettings(settings.provider);
const isNewer = parseIsNewer(settings.provider);
const secrets = new SecretsManagerClient({});
const now = () => new Date();

/** Scheduled runs are rare, so they wait for the rate instead of failing. */
const patienceInSeconds = 20;

const rotation = fieldsOf(settings.rotation, "rotation");
const secretHeader = parseSecretHeader(settings);
const times = {
  propagationSeconds: numberOf(rotation, "propagationSeconds"),
  overlapSeconds: numberOf(rotation, "overlapSeconds"),
};

const dependencies = {
  client: providerClient({ table: new DynamoDBClient({}), secrets }, provider, { now, patienceInSeconds }),
  webhooks: parseOwnWebhooks(settings.provider),
  webhooksUrl: variable("WEBHOOKS_URL"),
  readsFirst: optionalBoolean(settings, "readsFirst") ?? false,
  secretHeader,
  // Read on each run: a secret kept from an earlier one would undo a rotation.
  readSecret: webhookSecretStore(secrets, variable("WEBHOOK_SECRET_ARN")).read,
  now,
  times,
  isNewer,
  log,
};

const register = registrar(dependencies);

/** An event `{"list": true}` only lists the webhooks; any other registers them. */
const handle = sanitizeErrors(async (event: unknown) =>
  isFields(event) && event.list === true ? listWebhooks(dependencies) : register(event),
);

export const handler = logged(handle);
