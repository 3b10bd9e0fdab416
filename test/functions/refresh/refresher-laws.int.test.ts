import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { decodeJwt, SignJWT } from "jose";
import { afterAll, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { type TokenSecret, tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { startTestSystem } from "../../support/engines.ts";
import { providerLimits } from "../../support/provider-limits.ts";
import { shareOfTier } from "../../support/share-of-tier.ts";
import { startTestProvider } from "../../support/test-provider.ts";
import { refresherOf } from "../support/refresher-fixture.ts";

const [system, remote] = await Promise.all([startTestSystem(), startTestProvider()]);
afterAll(() => Promise.all([system.close(), remote.close()]));

/** A run, with an action at one of its calls to Secrets Manager. */
type Step = {
  readonly at: number;
  readonly phase: "before" | "after";
  readonly what: "nothing" | "the run dies" | "an operator sets a token" | "another run comes";
};
const step: fc.Arbitrary<Step> = fc.record({
  at: fc.nat({ max: 5 }),
  phase: fc.constantFrom("before", "after"),
  what: fc.constantFrom("nothing", "the run dies", "an operator sets a token", "another run comes"),
});

/**
 * A provider whose tokens record what they were refreshed from. Each expires soon, so every run refreshes.
 */
class Tokens {
  readonly #valid = new Set<string>();
  readonly #parents = new Map<string, string>();
  readonly #endsRefreshed: boolean;
  #issued = 0;

  constructor(endsRefreshed: boolean) {
    this.#endsRefreshed = endsRefreshed;
  }

  async issue(parent?: string): Promise<string> {
    this.#issued += 1;
    const begin = Math.floor(Date.now() / 1_000) + this.#issued;
    const token = await new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ alg: "HS256" })
      .setIssuedAt(begin)
      .setExpirationTime(begin + 600)
      .sign(Buffer.from("the provider's key"));
    this.#valid.add(token);
    if (parent === undefined) return token;
    this.#parents.set(token, parent);
    if (this.#endsRefreshed) this.#valid.delete(parent);
    return token;
  }

  isValid(token: string): boolean {
    return this.#valid.has(token);
  }

  descends(token: string | undefined, from: string): boolean {
    if (token === undefined || token === from) return token === from;
    return this.descends(this.#parents.get(token), from);
  }
}

const issuedAt = (token: string) => decodeJwt(token).iat ?? 0;

function runOf(secret: TokenSecret) {
  const now = () => new Date();
  return refresherOf({ secret, now, api: new ProviderApi(remote.url, providerLimits, now) });
}

test("no token gives way to an older or a foreign one, wherever runs die, meet or are overtaken (law)", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (steps, endsRefreshed) => {
        const tokens = new Tokens(endsRefreshed);
        remote.answer = async ({ path, headers }) => {
          const token = (headers.authorization ?? "").replace("Bearer ", "");
          if (!tokens.isValid(token)) return 401;
          return { json: path === "/refresh" ? { token: await tokens.issue(token) } : [] };
        };
        let line = await tokens.issue();
        const SecretId = system.createSecret({ token: line });
        const secret = tokenSecret(system.secretsManager, SecretId);
        const setByHand = async () => {
          line = await tokens.issue();
          system.secrets.call("PutSecretValue", { SecretId, SecretString: JSON.stringify({ token: line }) });
        };
        const currentToken = () => {
          const { SecretString } = system.secrets.call("GetSecretValue", { SecretId });
          return String(JSON.parse(String(SecretString)).token);
        };

        for (const { at, phase, what } of steps) {
          const before = currentToken();
          const lineBefore = line;
          let calls = 0;
          const working = system.intercept(async (_, when) => {
            if (when !== phase) return undefined;
            calls += 1;
            if (calls !== at + 1 || what === "nothing") return undefined;
            if (what === "the run dies")
              return { status: 500, errorType: "InternalServiceError", message: "x" };
            if (what === "an operator sets a token") await setByHand();
            else await runOf(secret).run();
            return undefined;
          });
          await runOf(secret)
            .run()
            .catch(() => undefined);
          working();
          const after = currentToken();
          if (line === lineBefore) expect(issuedAt(after)).toBeGreaterThanOrEqual(issuedAt(before));
          expect(tokens.descends(after, line)).toBe(true);
        }

        await runOf(secret).run();
        const last = runOf(secret);
        await last.run();
        const isHealed = tokens.isValid(currentToken());
        expect(isHealed || last.entries.some(({ code }) => code === "TOKEN_REFUSED")).toBe(true);
        // Nothing is lost if the provider still accepts the old token.
        if (!endsRefreshed) expect(isHealed).toBe(true);
      },
    ),
    { numRuns: shareOfTier([20], [60])[0] ?? 0 },
  );
});
