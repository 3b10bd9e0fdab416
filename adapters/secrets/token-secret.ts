import { createHash } from "node:crypto";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
  SecretsManagerServiceException,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { fieldsOf, optionalText, parseJson, present } from "../../domain/core/parse.ts";
import type { TokenVersion } from "../../domain/fetch/token-succession.ts";

/** A version as it was read, with the time of its making. */
export type StoredToken = TokenVersion & { readonly createdAt: Date };

/** The token's lifetime in Secrets Manager: pending until it is proven, then current. */
export type TokenSecret = {
  readonly current: () => Promise<StoredToken>;
  readonly pending: () => Promise<StoredToken | undefined>;
  /** Stores a token as pending, with the version that it was refreshed from; the same again is the same version. */
  readonly propose: (token: string, replaces: string) => Promise<TokenVersion>;
  /** Makes a version current in place of `replaced`. @returns false where that one is not current any more */
  readonly promote: (versionId: string, replaced: string) => Promise<boolean>;
  /** Ends that a version is pending; one that isn't any more is left alone. */
  readonly discard: (versionId: string) => Promise<void>;
};

/**
 * Reads `{"token": "<JWT>", "replaces": "<version>"}`; no token is the placeholder, until an operator has set the
 * first one.
 */
export function parseTokenSecret(text: string, versionId: string): TokenVersion {
  const fields = fieldsOf(parseJson(text, "the token secret"), "the token secret");
  const replaces = optionalText(fields, "replaces");
  return { versionId, token: optionalText(fields, "token"), ...present({ replaces }) };
}

export function tokenSecret(client: SecretsManagerClient, secretId: string): TokenSecret {
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
  /** @returns false where the label is not on the version that is said to have it: a compare-and-swap. */
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
      // AWS names four refusals of this call and not which of them a version without the label gets: the label says it.
      const holder = await (stage === "AWSCURRENT" ? read(stage) : pending());
      if (holder?.versionId === change.RemoveFromVersionId) throw error;
      return false;
    }
  };
  return {
    current: () => read("AWSCURRENT"),
    pending,
    propose: async (token, replaces) => {
      const text = JSON.stringify({ token, replaces });
      const { VersionId = "" } = await client.send(
        new PutSecretValueCommand({
          SecretId: secretId,
          SecretString: text,
          VersionStages: ["AWSPENDING"],
          // Of all that is stored: two refreshers may get the same token for different ones.
          ClientRequestToken: createHash("sha256").update(text).digest("hex"),
        }),
      );
      return { versionId: VersionId, token, replaces };
    },
    promote: (versionId, replaced) =>
      moveStage("AWSCURRENT", { MoveToVersionId: versionId, RemoveFromVersionId: replaced }),
    discard: async (versionId) => {
      await moveStage("AWSPENDING", { RemoveFromVersionId: versionId });
    },
  };
}

/** Sets the token by hand: it is current at once, whatever a refresh has pending. */
export async function setToken(client: SecretsManagerClient, secretId: string, token: string): Promise<void> {
  // Without a request token of our own: the same token would else be the same version, and keep its old label.
  await client.send(
    new PutSecretValueCommand({ SecretId: secretId, SecretString: JSON.stringify({ token }) }),
  );
}

/** Stores a token that an operator gave as pending: the refresher tries it. @returns its version */
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
