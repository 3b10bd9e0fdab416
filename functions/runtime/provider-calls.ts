import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { guardedCall, patient } from "../../adapters/provider/guarded-call.ts";
import { type CallWithToken, providerApi } from "../../adapters/provider/provider-api.ts";
import { rateLimiter } from "../../adapters/provider/rate-limiter.ts";
import { sharedBreaker } from "../../adapters/provider/shared-breaker.ts";
import { longestCallInSeconds, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { variable } from "./environment.ts";
import { log } from "./log.ts";

export type Gate = () => Promise<void>;

/** Calls, and a gate to ask before work that a call which can't be made now would make useless. */
export type ProviderCalls = { readonly call: CallWithToken; readonly gate: Gate };

/**
 * Calls within the rate that pass by the breaker: those that keep the token alive. They are few, and while data paths
 * fail the path that refreshes the token may answer.
 * @param patienceInSeconds how long a call waits for the rate before it fails
 */
export function unguardedCalls(
  table: DynamoDBClient,
  provider: ProviderSettings,
  now: () => Date,
  patienceInSeconds: number,
): CallWithToken {
  const window = rateLimiter(table, variable("TABLE_NAME"), provider.requestsPerMinute, { now });
  const permit = patient(window.permit, patienceInSeconds, now, sleep);
  const call = providerApi(variable("PROVIDER_BASE_URL"), provider, now);
  return async (token, apiCall) => {
    await permit();
    return call(token, apiCall);
  };
}

/**
 * Calls to the deployment's provider, which all other functions make through one breaker and within one rate.
 * @param patienceInSeconds how long a call waits for the rate before it fails; 0 where its task can wait better
 */
export function providerCalls(
  table: DynamoDBClient,
  provider: ProviderSettings,
  now: () => Date,
  patienceInSeconds: number,
): ProviderCalls {
  const tableName = variable("TABLE_NAME");
  const breaker = sharedBreaker(table, tableName, {
    settings: provider.breaker,
    longestCallInSeconds: longestCallInSeconds(provider) + patienceInSeconds,
    now,
    random: Math.random,
    onStateChange: (state) => log(state === "open" ? "PROVIDER_DOWN" : "PROVIDER_BACK"),
  });
  const window = rateLimiter(table, tableName, provider.requestsPerMinute, { now });
  const call = providerApi(variable("PROVIDER_BASE_URL"), provider, now);
  return {
    call: guardedCall(call, breaker.admit, patient(window.permit, patienceInSeconds, now, sleep), now),
    gate: async () => {
      await breaker.gate();
      window.gate();
    },
  };
}
