import { RefusalNote } from "../../../adapters/provider/token-refusals.ts";
import { readClaims, readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import type { Clients } from "../core/clients.ts";
import type { Deployment } from "../core/deployment.ts";

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

export async function tokenStatus(
  { output }: Pick<Deployment, "output">,
  { secretsManager, dynamodb }: Pick<Clients, "secretsManager" | "dynamodb">,
): Promise<TokenStatus> {
  const { token, versionId, replaces, createdAt } = await tokenSecret(
    secretsManager,
    output("TokenSecretArn"),
  ).current();
  if (token === undefined) return { isSet: false };
  const { issuedAt, expiresAt } = readTokenLifetime(token);
  const issued = timeOf(issuedAt);
  const expires = timeOf(expiresAt);
  const claims = readClaims(token);
  return {
    isSet: true,
    ...(claims !== undefined && { claims }),
    ...(issued !== undefined && { issuedAt: issued }),
    ...(expires !== undefined && { expiresAt: expires }),
    storedAt: createdAt.toISOString(),
    storedBy: replaces === undefined ? "operator" : "refresh",
    refusal: await new RefusalNote(dynamodb, output("TableName")).statusOf(versionId),
  };
}

/** Undefined also for a time that does not exist in the calendar. */
function timeOf(seconds: number | undefined): string | undefined {
  const time = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
