import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { refresherFixture, tokenOf } from "../support/refresher-fixture.ts";

const fixture = refresherFixture();
const { withSecret, refresherOf, codes, currentToken } = fixture;

describe("two refreshers at once", () => {
  test("that get the very same token end with it, and leave nothing to do", async () => {
    await withSecret({ token: await tokenOf(9, 1) });
    const same = await tokenOf(0, 10);
    const bothAsked = Promise.withResolvers<void>();
    let asked = 0;
    fixture.onRefresh = async () => {
      asked += 1;
      if (asked === 2) bothAsked.resolve();
      await bothAsked.promise;
      return { json: { token: same } };
    };
    await Promise.all([refresherOf()(), refresherOf()()]);
    expect(await currentToken()).toBe(same);
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_KEPT"]);
  });

  test("never put an older token over a newer one, in any order of their steps (law)", async () => {
    const order = fc.scheduler();
    await fc.assert(
      fc.asyncProperty(order, fc.boolean(), async (scheduler, isFirstNewer) => {
        await withSecret({ token: await tokenOf(9, 1) });
        const tokens = await Promise.all((isFirstNewer ? [1, 2] : [2, 1]).map((begun) => tokenOf(begun, 9)));
        const seen: number[] = [];
        const issuedAt = (token = "") => readTokenLifetime(token).issuedAt ?? 0;
        let asked = 0;
        fixture.onRefresh = async () => {
          const token = tokens[asked];
          asked += 1;
          await scheduler.schedule(Promise.resolve(), "refresh");
          return { json: { token } };
        };
        fixture.onProof = async () => {
          await scheduler.schedule(Promise.resolve(), "proof");
          seen.push(issuedAt(await currentToken()));
          return { json: [] };
        };
        const runs = Promise.all([refresherOf()(), refresherOf()()]);
        await scheduler.waitFor(runs);
        fixture.onRefresh = () => 500;
        fixture.onProof = () => ({ json: [] });
        await refresherOf()();
        seen.push(issuedAt(await currentToken()));
        await refresherOf()();
        seen.push(issuedAt(await currentToken()));
        expect(seen).toEqual(seen.toSorted((one, other) => one - other));
      }),
      { numRuns: 20 },
    );
  });
});
