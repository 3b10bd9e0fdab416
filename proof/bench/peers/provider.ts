import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { startEndpoints, type Task, variable } from "./job.ts";

const keptForMs = 60_000;

/** Returns a function that reads a secret and caches it for a minute. */
export function cachedSecret(client: SecretsManagerClient, id: string, field: string): () => Promise<string> {
  let kept: { value: string; until: number } | undefined;
  return async () => {
    if (kept !== undefined && kept.until > Date.now()) return kept.value;
    const { SecretString = "{}" } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    kept = { value: String(JSON.parse(SecretString)[field]), until: Date.now() + keptForMs };
    return kept.value;
  };
}

/**
 * Calls the provider for a task.
 * @returns the data of a read
 */
export async function callProvider({ task, accountId, endpoint }: Task, token: string): Promise<string> {
  const account = `${variable("PROVIDER_BASE_URL")}/api/v0.4/accounts/${accountId}`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer =
    task === "start"
      ? await fetch(`${account}/fetches`, {
          method: "POST",
          headers,
          body: JSON.stringify({ endpoints: startEndpoints }),
        })
      : await fetch(`${account}/${endpoint}`, { headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the provider answered ${answer.status}`);
  return text;
}
