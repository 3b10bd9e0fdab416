import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { itemReader, type ReadKey } from "../../adapters/dynamodb/batching.ts";
import { CircuitBreaker } from "../../adapters/provider/circuit-breaker.ts";
import { ProviderApi } from "../../adapters/provider/provider-api.ts";
import { GuardedApi, ProviderClient } from "../../adapters/provider/provider-client.ts";
import { callCounters, RateLimiter } from "../../adapters/provider/rate-limiter.ts";
import { RefusalNote, TokenRefusals } from "../../adapters/provider/token-refusals.ts";
import { secretReader } from "../../adapters/secrets/secret-reader.ts";
import { longestCallInSeconds, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { parseTokenSecret } from "../../domain/fetch/token.ts";
import { variable } from "./environment.ts";
import { log } from "./log.ts";

type Patience = {
  readonly now: () => Date;
  /** Maximum time that a call waits for the rate before it fails; 0 if its task can be retried instead. */
  readonly patienceInSeconds: number;
};

/** Client of the provider, with the current token. All functions share one circuit breaker and one rate. */
export function providerClient(
  { secrets, ...tables }: Parameters<typeof guardedApi>[0] & { readonly secrets: SecretsManagerClient },
  provider: ProviderSettings,
  /** `askRefresh` starts the refresher if the token is refused; without it, its next run finds out. */
  { askRefresh, ...patience }: Patience & { readonly askRefresh?: () => Promise<void> },
): ProviderClient {
  const token = secretReader(secrets, variable("TOKEN_SECRET_ARN"), parseTokenSecret, patience);
  const note = new RefusalNote(tables.table, variable("TABLE_NAME"));
  const refusals = new TokenRefusals(note, askRefresh, patience.now);
  return new ProviderClient(guardedApi(tables, provider, patience), token, refusals);
}

/** Calls with a given token, behind the circuit breaker and within the rate. */
export function guardedApi(
  {
    table,
    read = itemReader(table, variable("TABLE_NAME")),
  }: {
    readonly table: DynamoDBClient;
    /** Reads the breaker's state; absent: it is read with a separate request. */
    readonly read?: ReadKey;
  },
  provider: ProviderSettings,
  { now, patienceInSeconds }: Patience,
): GuardedApi {
  const breaker = new CircuitBreaker(table, variable("TABLE_NAME"), {
    settings: provider.breaker,
    read,
    longestCallInSeconds: longestCallInSeconds(provider) + patienceInSeconds,
    now,
    random: Math.random,
    onStateChange: (state) => log(state === "open" ? "PROVIDER_DOWN" : "PROVIDER_BACK"),
  });
  return new GuardedApi({ ...rateLimited(table, provider, { now, patienceInSeconds }), breaker });
}

/** Calls that keep the token alive, without the breaker: their path may answer while data paths fail. */
export function unguardedApi(
  table: DynamoDBClient,
  provider: ProviderSettings,
  patience: Patience,
): GuardedApi {
  return new GuardedApi(rateLimited(table, provider, patience));
}

function rateLimited(
  table: DynamoDBClient,
  provider: ProviderSettings,
  { now, patienceInSeconds }: Patience,
) {
  const counters = callCounters(table, variable("TABLE_NAME"));
  const limiter = new RateLimiter(counters, provider.requestsPerMinute, { now });
  const api = new ProviderApi(variable("PROVIDER_BASE_URL"), provider, now);
  return { api, limiter, patienceInSeconds, now };
}
