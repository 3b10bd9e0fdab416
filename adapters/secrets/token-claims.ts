import { decodeJwt } from "jose/jwt/decode";
import type { TokenLifetime } from "../../domain/fetch/token-lifetime.ts";

/** Reads a JWT's claims without verifying its signature, which is the provider's business. */
export function readTokenLifetime(token: string): TokenLifetime {
  try {
    const { iat, exp } = decodeJwt(token);
    return {
      ...(isTime(iat) ? { issuedAt: iat } : {}),
      ...(isTime(exp) ? { expiresAt: exp } : {}),
    };
  } catch {
    // No JWT: a lifetime can't be read, and so it is refreshed on every run.
    return {};
  }
}

/** All claims of a JWT; undefined where the text is none. */
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

// A claim is whatever the token says: its type is a promise of the library, not of the provider.
function isTime(claim: unknown): claim is number {
  return typeof claim === "number" && Number.isFinite(claim);
}
