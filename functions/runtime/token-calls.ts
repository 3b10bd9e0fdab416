import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { refusalNote } from "../../adapters/provider/refusal-note.ts";
import { type Call, tokenGate, withToken } from "../../adapters/provider/with-token.ts";
import { secretReader } from "../../adapters/secrets/secret-reader.ts";
import { tokenRefusals } from "../../adapters/secrets/token-refusals.ts";
import { parseTokenSecret } from "../../adapters/secrets/token-secret.ts";
import type { ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { variable } from "./environment.ts";
import { type Gate, providerCalls } from "./provider-calls.ts";

export type TokenCallOptions = {
  readonly now: () => Date;
  readonly patienceInSeconds: number;
  /** Wakes the refresher when the token is refused; without it the refresher's next run learns of it. */
  readonly askRefresh?: () => Promise<void>;
};

/** Calls to the deployment's provider with its current token; see `providerCalls`. */
export function tokenCalls(
  { table, secrets }: { readonly table: DynamoDBClient; readonly secrets: SecretsManagerClient },
  provider: ProviderSettings,
  { now, patienceInSeconds, askRefresh }: TokenCallOptions,
): { readonly call: Call; readonly gate: Gate } {
  const token = secretReader(secrets, variable("TOKEN_SECRET_ARN"), parseTokenSecret, { now });
  const { call, gate } = providerCalls(table, provider, now, patienceInSeconds);
  const note = refusalNote(table, variable("TABLE_NAME"));
  const refusals = tokenRefusals(note, askRefresh, now);
  const hasToken = tokenGate(token, refusals);
  return {
    call: withToken(call, token, refusals),
    gate: async () => {
      await gate();
      await hasToken();
    },
  };
}
