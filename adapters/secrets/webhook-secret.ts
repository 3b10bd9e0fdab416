import { createHash } from "node:crypto";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  type SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { permanent } from "../../domain/core/failures.ts";
import {
  parseWebhookSecret,
  type WebhookSecret,
  writeWebhookSecret,
} from "../../domain/core/webhook-secret.ts";

/** The current secret, uncached. */
export type StoredWebhookSecret = {
  /** Undefined if no value is configured. */
  readonly secret: WebhookSecret | undefined;
  /** When it was set, by the clock of Secrets Manager. */
  readonly since: Date;
  readonly versionId: string;
};

export type WebhookSecretStore = ReturnType<typeof webhookSecretStore>;

export function webhookSecretStore(client: SecretsManagerClient, secretId: string) {
  const read = async () => {
    const found = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    const { VersionId = "", CreatedDate = new Date(0), SecretString = "{}" } = found;
    return { secret: parseWebhookSecret(SecretString), since: CreatedDate, versionId: VersionId };
  };
  const put = (secret: WebhookSecret, ClientRequestToken?: string) => {
    const input = { SecretId: secretId, SecretString: writeWebhookSecret(secret) };
    return client.send(
      new PutSecretValueCommand(ClientRequestToken === undefined ? input : { ...input, ClientRequestToken }),
    );
  };
  return {
    read,
    /**
     * Makes a secret current in place of the version `replaced`.
     * @throws permanent failure if another version has become current meanwhile
     */
    replace: async (secret: WebhookSecret, replaced: string) => {
      try {
        // Secrets Manager creates only one version for a request token: if two callers replace the same version, one
        // is refused. (Promoting a pending version would be safe too, but `since` would be before its promotion.)
        await put(secret, createHash("sha256").update(replaced).digest("hex"));
      } catch (error) {
        if (!(error instanceof ResourceExistsException)) throw error;
        const { versionId } = await read();
        if (versionId !== replaced)
          throw permanent("the webhook secret was changed by another at the same time");
        // Someone set the secret back to this version after it had been replaced once.
        await put(secret);
      }
    },
  };
}
