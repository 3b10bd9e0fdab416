import { RefusalNote } from "../../../adapters/provider/token-refusals.ts";
import { readClaims, readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { present } from "../../../domain/core/parse.ts";
import type { Place } from "../core/command.ts";

/** The status of the provider's token, without the token. */
export type TokenStatus =
  | { readonly isSet: false }
  | {
      readonly isSet: true;
      /** Set for a JWT; other tokens can't be read. */
      readonly claims?: Readonly<Record<string, unknown>>;
      readonly issuedAt?: string;
      readonly expiresAt?: string;
      readonly storedAt: string;
      readonly storedBy: "refresh" | "operator";
      /** `noted`: a call with it was refused, and the refresher will check it; `ended`: it is invalid. */
      readonly refusal: "none" | "noted" | "ended";
    };

export async function tokenStatus({ deployment, clients }: Place): Promise<TokenStatus> {
  const secret = tokenSecret(clients.secretsManager, deployment.output("TokenSecretArn"));
  const { token, versionId, replaces, createdAt } = await secret.current();
  if (token === undefined) return { isSet: false };
  const { issuedAt, expiresAt } = readTokenLifetime(token);
  return {
    isSet: true,
    ...present({ claims: readClaims(token), issuedAt: timeOf(issuedAt), expiresAt: timeOf(expiresAt) }),
    storedAt: createdAt.toISOString(),
    storedBy: replaces === undefined ? "operator" : "refresh",
    refusal: await new RefusalNote(clients.dynamodb, deployment.output("TableName")).statusOf(versionId),
  };
}

/** Undefined also for a time that does not exist in the calendar. */
function timeOf(seconds: number | undefined): string | undefined {
  const time = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
