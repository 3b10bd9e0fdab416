import { decodeJwt } from "jose";

/** When a token was issued and ends, in seconds since 1970. */
export type TokenLife = { readonly issuedAt?: number; readonly expiresAt?: number };

/** Reads a JWT's claims without judging its signature, which is the provider's business. */
export function readTokenLife(token: string): TokenLife {
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

// A claim is whatever the token says: its type is a promise of the library, not of the provider.
function isTime(claim: unknown): claim is number {
  return typeof claim === "number" && Number.isFinite(claim);
}
