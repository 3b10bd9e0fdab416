import fc from "fast-check";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import type { StoredToken, TokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { retryable } from "../../../domain/core/failures.ts";
import { dataIn, Unauthorized } from "../../../domain/fetch/answer.ts";
import { refresherOf } from "../support/refresher-fixture.ts";

const minute = 60_000;
const refreshEveryMinutes = 15;

/** A provider whose data paths fail for a time while its refresh path answers, on the test's clock. */
class Provider {
  now = Date.parse("2026-11-27T00:00:00Z");
  dataFails = false;
  readonly #lifetimeMinutes: number;

  constructor(lifetimeMinutes: number) {
    this.#lifetimeMinutes = lifetimeMinutes;
  }

  issue(): Promise<string> {
    return new SignJWT({})
      .setProtectedHeader({ alg: "HS256" })
      .setIssuedAt(this.now / 1_000)
      .setExpirationTime(this.now / 1_000 + this.#lifetimeMinutes * 60)
      .sign(Buffer.from("the provider's key"));
  }

  takes(token: string): boolean {
    return (readTokenLifetime(token).expiresAt ?? 0) * 1_000 > this.now;
  }

  readonly send = async (token: string, { path }: { readonly path: string }) => {
    if (path !== "/refresh" && this.dataFails) throw retryable("the provider answered 503");
    if (!this.takes(token)) throw new Unauthorized();
    const body = path === "/refresh" ? { token: await this.issue() } : [];
    return { found: true, ...dataIn(JSON.stringify(body)) } as const;
  };
}

/** The labels of one secret. */
function secretInMemory(first: string, now: () => Date): TokenSecret {
  let current: StoredToken = { versionId: "0", token: first, createdAt: now() };
  let pending: StoredToken | undefined;
  let versions = 0;
  return {
    current: async () => current,
    pending: async () => pending,
    propose: async (token, replaces) => {
      versions += 1;
      pending = { versionId: String(versions), token, replaces, createdAt: now() };
      return pending;
    },
    promote: async (versionId, replaced) => {
      if (pending?.versionId !== versionId || current.versionId !== replaced) return false;
      current = pending;
      pending = undefined;
      return true;
    },
    discard: async () => {
      pending = undefined;
    },
  };
}

test("no outage of the data paths, up to three lifetimes long, ends the token while the refresh path answers", async () => {
  const outage = fc.record({
    lifetime: fc.integer({ min: 40, max: 600 }),
    begins: fc.double({ min: 0, max: 1, noNaN: true }),
    lifetimes: fc.double({ min: 0.1, max: 3, noNaN: true }),
    phase: fc.integer({ min: 0, max: refreshEveryMinutes - 1 }),
  });
  await fc.assert(
    fc.asyncProperty(outage, async ({ lifetime, begins, lifetimes, phase }) => {
      const provider = new Provider(lifetime);
      const now = () => new Date(provider.now);
      const secret = secretInMemory(await provider.issue(), now);
      const { run } = refresherOf({ secret, api: provider, now });
      const from = Math.floor(begins * lifetime);
      const until = from + Math.ceil(lifetimes * lifetime);
      for (let passed = 0; passed <= until + lifetime; passed += 1) {
        provider.dataFails = passed >= from && passed < until;
        if (passed % refreshEveryMinutes === phase) await run();
        expect(provider.takes((await secret.current()).token ?? "")).toBe(true);
        provider.now += minute;
      }
    }),
    { numRuns: 200 },
  );
});
