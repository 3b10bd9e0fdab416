import { stoppedClock } from "@income-events/sandbox/clock.ts";
import { startSandbox } from "@income-events/sandbox/server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { startTestSystem } from "../../support/engines.ts";
import { providerLimits } from "../../support/provider-limits.ts";
import { refresherOf } from "../support/refresher-fixture.ts";

const minute = 60_000;

const system = await startTestSystem();
afterAll(() => system.close());

/**
 * Simulates hours on the provider's clock, with a run every fifteen minutes by ours. The test sets our clock,
 * the first run's minute and the failing runs.
 * @returns the provider's answers to a call every minute with the current token
 */
async function live(
  path: string,
  skewInMinutes: number,
  lifetimeInMinutes: number,
  failing: (run: number) => boolean,
) {
  const clock = stoppedClock(new Date("2026-11-21T12:00:00Z"));
  const sandbox = await startSandbox({ clock, tokenLifetimeSeconds: lifetimeInMinutes * 60 });
  try {
    const secret = tokenSecret(system.secretsManager, system.createSecret({ token: sandbox.token }));
    const now = () => new Date(clock.now().getTime() + skewInMinutes * minute);
    const api = new ProviderApi(sandbox.baseUrl, providerLimits, now);
    const { run } = refresherOf({
      ...{ secret, api, now },
      ...{ refreshPath: path, proofPath: "/api/v0.4/users" },
    });
    const statuses: number[] = [];
    let { token = "" } = await secret.current();
    for (let passed = 0; passed < 4 * 60; passed += 1) {
      if (passed % 15 === 7) {
        if (failing(Math.floor(passed / 15))) sandbox.fault({ path: "/token/refresh", status: 503 });
        await run().catch(() => undefined);
        sandbox.clearFaults();
        ({ token = "" } = await secret.current());
      }
      const answer = await fetch(`${sandbox.baseUrl}/api/v0.4/users`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await answer.arrayBuffer();
      statuses.push(answer.status);
      clock.advance(minute);
    }
    return { statuses, refreshes: sandbox.calls().filter((each) => each.path === path).length };
  } finally {
    await sandbox.close();
  }
}

describe("the provider takes the current token at every minute of four hours", () => {
  test.each([
    { path: "/api/v0.4/token/refresh", skew: -5, lifetime: 60 },
    { path: "/api/v0.4/token/refresh", skew: 5, lifetime: 60 },
    { path: "/api/v0.3/token/refresh", skew: 0, lifetime: 120 },
  ])("refreshed at $path, with our clock $skew minutes off", async ({ path, skew, lifetime }) => {
    const { statuses, refreshes } = await live(path, skew, lifetime, () => false);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(refreshes).toBeGreaterThan(2);
  });

  test.each([-5, 5])("with our clock %i minutes off, and two runs of three failing", async (skew) => {
    const { statuses } = await live("/api/v0.4/token/refresh", skew, 88, (run) => run % 3 !== 0);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
