import { randomBytes, randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Clock } from "./clock.ts";

/** Why a call has no access; the answer is 401 in every case. */
export type TokenRefusal = "missing" | "malformed" | "invalid" | "expired";
export type TokenVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly reason: TokenRefusal };

export type Tokens = {
  /** Issues a token. `remainingSeconds`: the life left in it, its `iat` being set back accordingly. */
  issue(remainingSeconds?: number): Promise<string>;
  /** Judges the value of an Authorization header. */
  verify(authorization: string | undefined): Promise<TokenVerdict>;
};

export type TokenSettings = {
  readonly clock: Clock;
  readonly lifetimeSeconds: number;
  /** The environment that the tokens are for; those of another are refused. */
  readonly environment: string;
  readonly key?: Uint8Array;
};

const algorithm = "HS256";
const issuer = "income-data-service";

/** Signs and checks the environment's access tokens: JWTs with a limited life. */
export function createTokens(settings: TokenSettings): Tokens {
  const { clock, lifetimeSeconds, environment, key = randomBytes(32) } = settings;
  return {
    issue: async (remainingSeconds = lifetimeSeconds) => {
      const expires = Math.floor(clock.now().getTime() / 1000) + remainingSeconds;
      return new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ: "JWT" })
        .setIssuer(issuer)
        .setAudience(environment)
        .setJti(randomUUID())
        .setIssuedAt(expires - lifetimeSeconds)
        .setExpirationTime(expires)
        .sign(key);
    },
    verify: async (authorization) => {
      if (authorization === undefined) return refuse("missing");
      const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization)?.[1];
      if (token === undefined) return refuse("malformed");
      try {
        const checks = { algorithms: [algorithm], issuer, audience: environment, currentDate: clock.now() };
        await jwtVerify(token, key, { ...checks, requiredClaims: ["exp"] });
        return { valid: true };
      } catch (error) {
        return refuse(error instanceof errors.JWTExpired ? "expired" : "invalid");
      }
    },
  };
}

function refuse(reason: TokenRefusal): TokenVerdict {
  return { valid: false, reason };
}
