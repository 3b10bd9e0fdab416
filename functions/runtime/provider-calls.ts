import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { callWindow } from "../../adapters/call-window.ts";
import { type CallWithToken, paced, providerApi } from "../../adapters/provider-api.ts";
import type { ProviderSettings } from "../../domain/provider-settings.ts";
import { variable } from "./environment.ts";

/** Calls to the deployment's provider, paced together with those of all other functions. */
export function providerCalls(
  table: DynamoDBClient,
  provider: ProviderSettings,
  now: () => Date,
): CallWithToken {
  const permit = callWindow(table, variable("TABLE_NAME"), provider.requestsPerMinute, now);
  return paced(providerApi(variable("PROVIDER_BASE_URL"), provider, now), permit);
}
