import { createHash } from "node:crypto";
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { fieldsOf, optionalText, parseJson } from "../domain/parse.ts";

/** A version of the token secret; without a token it is the placeholder that the deployment made. */
export type TokenVersion = { readonly versionId: string; readonly token: string | undefined };

/** The token's life in Secrets Manager: pending until it is proven, then current. */
export type TokenSecret = {
  readonly current: () => Promise<TokenVersion>;
  readonly pending: () => Promise<TokenVersion | undefined>;
  /** Stores a token as pending; the same token again is the same version. */
  readonly propose: (token: string) => Promise<TokenVersion>;
  /** Makes a pending version current, unless the version it replaces is not current any more. */
  readonly promote: (versionId: string, replaced: string) => Promise<void>;
  readonly discard: (versionId: string) => Promise<void>;
};

/** Reads `{"token": "<JWT>"}`; undefined for the placeholder, until an operator has set the first token. */
export function parseTokenSecret(text: string): string | undefined {
  return optionalText(fieldsOf(parseJson(text, "the token secret"), "the token secret"), "token");
}

export function tokenSecret(client: SecretsManagerClient, secretId: string): TokenSecret {
  const read = async (stage: "AWSCURRENT" | "AWSPENDING"): Promise<TokenVersion> => {
    const command = new GetSecretValueCommand({ SecretId: secretId, VersionStage: stage });
    const { VersionId = "", SecretString = "{}" } = await client.send(command);
    return { versionId: VersionId, token: parseTokenSecret(SecretString) };
  };
  const moveStage = async (
    stage: string,
    change: { MoveToVersionId?: string; RemoveFromVersionId: string },
  ) => {
    await client.send(
      new UpdateSecretVersionStageCommand({ SecretId: secretId, VersionStage: stage, ...change }),
    );
  };
  return {
    current: () => read("AWSCURRENT"),
    pending: async () => {
      try {
        return await read("AWSPENDING");
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return undefined;
        throw error;
      }
    },
    propose: async (token) => {
      const { VersionId = "" } = await client.send(
        new PutSecretValueCommand({
          SecretId: secretId,
          SecretString: JSON.stringify({ token }),
          VersionStages: ["AWSPENDING"],
          ClientRequestToken: createHash("sha256").update(token).digest("hex"),
        }),
      );
      return { versionId: VersionId, token };
    },
    promote: (versionId, replaced) =>
      moveStage("AWSCURRENT", { MoveToVersionId: versionId, RemoveFromVersionId: replaced }),
    discard: (versionId) => moveStage("AWSPENDING", { RemoveFromVersionId: versionId }),
  };
}
