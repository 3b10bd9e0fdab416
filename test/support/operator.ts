import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import { z } from "zod";

/** What a webhook must carry, read from the secret as an operator may. */
export async function webhookSecretOf({
  gatewayUrl,
  region,
  operator,
  outputs,
}: LocalStack): Promise<string> {
  const client = new SecretsManagerClient({ endpoint: gatewayUrl, region, credentials: operator });
  try {
    const command = new GetSecretValueCommand({ SecretId: outputs.WebhookSecretArn });
    const { SecretString = "" } = await client.send(command);
    return z.object({ current: z.string() }).parse(JSON.parse(SecretString)).current;
  } finally {
    client.destroy();
  }
}
