import { randomBytes, randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { Clock } from "./clock.ts";
import type { Store } from "./store.ts";

/** Why a call is refused; the answer is always 401. */
export type TokenRefusal = "missing" | "malformed" | "invalid" | "expired" | "revoked";
export type TokenCheck =
  | { readonly valid: true; readonly tokenId: string }
  | { readonly valid: false; readonly reason: TokenRefusal };

/** How tokens are invalidated early; only the error's text differs. */
export type TokenEnd = Extract<TokenRefusal, "expired" | "revoked">;

export type Tokens = ReturnType<typeof createTokens>;

export type TokenSettings = {
  readonly clock: Clock;
  readonly store: Store;
  readonly lifetimeSeconds: number;
  /** Environment of the tokens; tokens of another environment are refused. */
  readonly environment: string;
  /** Whether a refresh revokes the old token. */
  readonly refreshEndsToken: boolean;
};

const algorithm = "HS256";
const issuer = "income-data-service";

/** An issued token; `ended` if it was invalidated early. */
const storedToken = z.object({
  expires: z.number(),
  ended: z.enum(["expired", "revoked"]).exactOptional(),
});
const storedKey = z.object({ key: z.string() });

/** Signs and checks the environment's access tokens, which are JWTs with a limited lifetime. */
export function createTokens(settings: TokenSettings) {
  const { clock, store, lifetimeSeconds, environment, refreshEndsToken } = settings;
  const key = keyOf(store);
  const issued = store.collection("tokens", storedToken);
  const now = () => Math.floor(clock.now().getTime() / 1000);

  function forgetExpired(): void {
    for (const tokenId of [...issued.keys()]) {
      if ((issued.get(tokenId)?.expires ?? 0) <= now()) issued.delete(tokenId);
    }
  }

  function end(tokenId: string, how: TokenEnd): boolean {
    const token = issued.get(tokenId);
    if (token === undefined || token.ended !== undefined) return false;
    issued.set(tokenId, { ...token, ended: how });
    return true;
  }

  /**
   * Issues a token.
   * @param remainingSeconds remaining lifetime; `iat` is set back accordingly
   */
  async function issue(remainingSeconds = lifetimeSeconds): Promise<string> {
    forgetExpired();
    const tokenId = randomUUID();
    const expires = now() + remainingSeconds;
    issued.set(tokenId, { expires });
    return new SignJWT()
      .setProtectedHeader({ alg: algorithm, typ: "JWT" })
      .setIssuer(issuer)
      .setAudience(environment)
      .setJti(tokenId)
      .setIssuedAt(expires - lifetimeSeconds)
      .setExpirationTime(expires)
      .sign(key);
  }

  return {
    issue,
    /** Checks the value of an Authorization header. */
    verify: async (authorization: string | undefined): Promise<TokenCheck> => {
      if (authorization === undefined) return refuse("missing");
      const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization)?.[1];
      if (token === undefined) return refuse("malformed");
      try {
        const checks = { algorithms: [algorithm], issuer, audience: environment, currentDate: clock.now() };
        const { payload } = await jwtVerify(token, key, { ...checks, requiredClaims: ["exp", "jti"] });
        const tokenId = payload.jti ?? "";
        const ended = issued.get(tokenId)?.ended;
        return ended === undefined ? { valid: true, tokenId } : refuse(ended);
      } catch (error) {
        return refuse(error instanceof errors.JWTExpired ? "expired" : "invalid");
      }
    },
    /** Issues a token in exchange for a valid one, which is revoked if the service is configured to. */
    refresh: async (tokenId: string): Promise<string> => {
      if (refreshEndsToken) end(tokenId, "revoked");
      return issue();
    },
    /**
     * Invalidates every token issued so far.
     * @returns how many were still valid
     */
    endAll: (how: TokenEnd): number => {
      forgetExpired();
      return [...issued.keys()].filter((tokenId) => end(tokenId, how)).length;
    },
  };
}

function refuse(reason: TokenRefusal): TokenCheck {
  return { valid: false, reason };
}

/** Returns the environment's signing key, created once so that tokens survive a restart. */
function keyOf(store: Store): Uint8Array {
  const kept = store.collection("token-key", storedKey);
  const { key } = kept.get("current") ?? { key: randomBytes(32).toString("base64") };
  if (kept.size === 0) kept.set("current", { key });
  return Buffer.from(key, "base64");
}
