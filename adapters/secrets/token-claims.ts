import { decodeJwt } from "jose/jwt/decode";
import type { TokenLifetime } from "../../domain/fetch/token-lifetime.ts";

/** Reads a JWT's lifetime without verifying its signature, which is the provider's job. */
export function readTokenLifetime(token: string): TokenLifetime {
  try {
    const { iat, exp } = decodeJwt(token);
    return {
      ...(isTime(iat) ? { issuedAt: iat } : {}),
      ...(isTime(exp) ? { expiresAt: exp } : {}),
    };
  } catch {
    // Not a JWT: without a known lifetime, the token is refreshed on every run.
    return {};
  }
}

/** All claims of a JWT; undefined if the text is not a JWT. */
export function readClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return { ...decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** Whether a text is a JWT whose claims can be read. */
export function isJwt(text: string): boolean {
  try {
    decodeJwt(text);
    return true;
  } catch {
    return false;
  }
}

// The library's types don't guarantee what a provider puts into a claim.
function isTime(claim: unknown): claim is number {
  return typeof claim === "number" && Number.isFinite(claim);
}
