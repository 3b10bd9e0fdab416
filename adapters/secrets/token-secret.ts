import { createHash } from "node:crypto";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
  SecretsManagerServiceException,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { parseTokenSecret, type TokenVersion } from "../../domain/fetch/token.ts";

/** A version of the token, with its creation time. */
export type StoredToken = TokenVersion & { readonly createdAt: Date };

/** The token in Secrets Manager. A version is pending until it is proven, then current. */
export type TokenSecret = ReturnType<typeof tokenSecret>;

export function tokenSecret(client: SecretsManagerClient, secretId: string) {
  const read = async (stage: "AWSCURRENT" | "AWSPENDING"): Promise<StoredToken> => {
    const command = new GetSecretValueCommand({ SecretId: secretId, VersionStage: stage });
    const { VersionId = "", SecretString = "{}", CreatedDate = new Date(0) } = await client.send(command);
    return { ...parseTokenSecret(SecretString, VersionId), createdAt: CreatedDate };
  };
  const pending = async (): Promise<StoredToken | undefined> => {
    try {
      return await read("AWSPENDING");
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  };
  /** @returns false if the version no longer has the label: a compare-and-swap */
  const moveStage = async (
    stage: "AWSCURRENT" | "AWSPENDING",
    change: { MoveToVersionId?: string; RemoveFromVersionId: string },
  ): Promise<boolean> => {
    try {
      await client.send(
        new UpdateSecretVersionStageCommand({ SecretId: secretId, VersionStage: stage, ...change }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof SecretsManagerServiceException) || error.$fault !== "client") throw error;
      // AWS does not document which of four errors means that the version lacks the label, so read the label.
      const holder = await (stage === "AWSCURRENT" ? read(stage) : pending());
      if (holder?.versionId === change.RemoveFromVersionId) throw error;
      return false;
    }
  };
  return {
    current: () => read("AWSCURRENT"),
    pending,
    /**
     * Stores a token as pending, with the version that it was refreshed from. Idempotent: the same input is the same
     * version.
     */
    propose: async (token: string, replaces: string): Promise<TokenVersion> => {
      const text = JSON.stringify({ token, replaces });
      const { VersionId = "" } = await client.send(
        new PutSecretValueCommand({
          SecretId: secretId,
          SecretString: text,
          VersionStages: ["AWSPENDING"],
          // A hash of all the content: two refreshers may get the same token in place of different ones.
          ClientRequestToken: createHash("sha256").update(text).digest("hex"),
        }),
      );
      return { versionId: VersionId, token, replaces };
    },
    /** Makes a version current in place of `replaced`. @returns false if `replaced` is no longer current */
    promote: (versionId: string, replaced: string) =>
      moveStage("AWSCURRENT", { MoveToVersionId: versionId, RemoveFromVersionId: replaced }),
    /** Removes the pending label of a version. Does nothing if the version no longer has it. */
    discard: async (versionId: string) => {
      await moveStage("AWSPENDING", { RemoveFromVersionId: versionId });
    },
  };
}

/** Sets the token by hand. It is current at once, even if a refresh is pending. */
export async function setToken(client: SecretsManagerClient, secretId: string, token: string): Promise<void> {
  // No request token: with one, the same token would be the same version and keep its old label.
  await client.send(
    new PutSecretValueCommand({ SecretId: secretId, SecretString: JSON.stringify({ token }) }),
  );
}

/** Stores an operator's token as pending, for the refresher to try. @returns its version */
export async function proposeByHand(
  client: SecretsManagerClient,
  secretId: string,
  token: string,
): Promise<string> {
  const { VersionId = "" } = await client.send(
    new PutSecretValueCommand({
      SecretId: secretId,
      SecretString: JSON.stringify({ token }),
      VersionStages: ["AWSPENDING"],
    }),
  );
  return VersionId;
}
