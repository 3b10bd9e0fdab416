import { setTimeout as sleep } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { callWindow } from "../../adapters/call-window.ts";
import { guardedCall, patient } from "../../adapters/guarded-call.ts";
import { type CallWithToken, providerApi } from "../../adapters/provider-api.ts";
import { sharedBreaker } from "../../adapters/shared-breaker.ts";
import type { ProviderSettings } from "../../domain/provider-settings.ts";
import { variable } from "./environment.ts";
import { log } from "./log.ts";

/**
 * Calls to the deployment's provider, which all functions make through one breaker and within one rate.
 * @param patienceInSeconds how long a call waits for the rate before it fails; 0 where its task can wait better
 */
export function providerCalls(
  table: DynamoDBClient,
  provider: ProviderSettings,
  now: () => Date,
  patienceInSeconds: number,
): CallWithToken {
  const tableName = variable("TABLE_NAME");
  const { connectSeconds, headersSeconds, bodySeconds } = provider.timeouts;
  const admit = sharedBreaker(table, tableName, {
    settings: provider.breaker,
    longestCallInSeconds: connectSeconds + headersSeconds + bodySeconds + patienceInSeconds,
    now,
    random: Math.random,
    onTurn: (turn) => log(turn === "down" ? "PROVIDER_DOWN" : "PROVIDER_BACK"),
  });
  const permit = callWindow(table, tableName, provider.requestsPerMinute, now);
  const call = providerApi(variable("PROVIDER_BASE_URL"), provider, now);
  return guardedCall(call, admit, patient(permit, patienceInSeconds, now, sleep));
}
