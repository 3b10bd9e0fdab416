import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { RefusalNote } from "../../adapters/provider/token-refusals.ts";
import { readTokenLifetime } from "../../adapters/secrets/token-claims.ts";
import { tokenSecret } from "../../adapters/secrets/token-secret.ts";
import { fieldsOf, numberOf } from "../../domain/core/parse.ts";
import { shortestPage } from "../../domain/fetch/paging.ts";
import { parseProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { readSettings, variable } from "../runtime/environment.ts";
import { log, logged, sanitizeErrors } from "../runtime/log.ts";
import { unguardedApi } from "../runtime/provider-client.ts";
import { refresher } from "./refresher.ts";

const settings = readSettings();
const provider = parseProviderSettings(settings.provider);
const token = fieldsOf(settings.token, "token");
const table = new DynamoDBClient({});
const now = () => new Date();

/** Scheduled runs are rare, so they wait for the rate instead of failing. */
const patienceInSeconds = 20;

const handle = sanitizeErrors(
  refresher({
    secret: tokenSecret(new SecretsManagerClient({}), variable("TOKEN_SECRET_ARN")),
    refusals: new RefusalNote(table, variable("TABLE_NAME")),
    api: unguardedApi(table, provider, { now, patienceInSeconds }),
    readLifetime: readTokenLifetime,
    refreshPath: provider.paths.refresh,
    proofPath: shortestPage(provider.paths.users, provider.paging),
    refresh: {
      marginFraction: numberOf(token, "marginFraction"),
      refreshEveryMinutes: numberOf(token, "refreshEveryMinutes"),
    },
    now,
    log,
  }),
);

export const handler = logged(handle);
