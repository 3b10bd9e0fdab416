import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { startEndpoints, variable } from "./job.ts";
import type { Task } from "./payloads.ts";

const keptForMs = 60_000;

/** Returns a function that reads a field of a secret and caches it for a minute. */
export function cachedSecret(idVariable: string, field: string): () => Promise<string> {
  const client = new SecretsManagerClient({});
  const SecretId = variable(idVariable);
  let kept: { value: string; until: number } | undefined;
  return async () => {
    if (kept !== undefined && kept.until > Date.now()) return kept.value;
    const { SecretString = "{}" } = await client.send(new GetSecretValueCommand({ SecretId }));
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
  const start = { method: "POST", headers, body: JSON.stringify({ endpoints: startEndpoints }) };
  const answer =
    task === "start"
      ? await fetch(`${account}/fetches`, start)
      : await fetch(`${account}/${endpoint}`, { headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the provider answered ${answer.status}`);
  return text;
}
