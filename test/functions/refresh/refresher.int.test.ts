import type { ProviderAnswer } from "@income-events/local-stack/provider.ts";
import { describe, expect, test } from "vitest";
import { hour, refresherFixture, tokenOf } from "../support/refresher-fixture.ts";

const fixture = refresherFixture();
const { withSecret, refresherOf, codes, calls, currentToken } = fixture;

describe("a token", () => {
  test.each([
    ["with most of its life before it is kept", 1, 9, "TOKEN_KEPT"],
    ["with a little more than the margin before it is kept", 4.9, 5.1, "TOKEN_KEPT"],
    ["with just the margin before it is refreshed", 5, 5, "TOKEN_REFRESHED"],
    ["near its end is refreshed", 9, 1, "TOKEN_REFRESHED"],
    ["past its end is tried, for the provider decides", 10, -1, "TOKEN_REFRESHED"],
  ])("%s", async (_, begun, ends, code) => {
    await withSecret({ token: await tokenOf(begun, ends) });
    const { outcome } = await refresherOf()();
    expect(codes()).toEqual([code]);
    expect(code).toBe(`TOKEN_${outcome.toUpperCase()}`);
    expect(fixture.remote.requests.length > 0).toBe(code === "TOKEN_REFRESHED");
  });

  test("that is not near its end is refreshed where an operator asks for it, and by no other event", async () => {
    await withSecret({ token: await tokenOf(1, 9) });
    for (const event of [{}, { now: "true" }, { detail: { now: true } }, "now", undefined]) {
      expect(await refresherOf()(event)).toEqual({ outcome: "kept" });
    }
    expect(calls()).toEqual([]);
    expect(await refresherOf()({ now: true })).toEqual({ outcome: "refreshed" });
    expect(await currentToken()).toBe("new");
  });

  test.each(["opaque", "a.b.c"])(
    "whose lifetime can't be read is refreshed on every run: %s",
    async (token) => {
      await withSecret({ token });
      fixture.onRefresh = () => ({ json: { token: `${token}-next` } });
      await refresherOf()();
      expect(await currentToken()).toBe(`${token}-next`);
      fixture.onRefresh = () => ({ json: { token: `${token}-after` } });
      await refresherOf()();
      expect(await currentToken()).toBe(`${token}-after`);
    },
  );

  test("that is not set yet refreshes nothing, and says so", async () => {
    await withSecret({ placeholder: "x" });
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_MISSING"]);
    expect(calls()).toEqual([]);
  });
});

test("a token whose whole lifetime is shorter than the time between two runs is reported", async () => {
  await withSecret({ token: await tokenOf(0.1, 0.2) });
  await refresherOf()();
  expect(codes()).toEqual(["TOKEN_SHORT_LIVED", "TOKEN_REFRESHED"]);
});

describe("a run", () => {
  test("reports the token's lifetime", async () => {
    await withSecret({ token: await tokenOf(1, 3) });
    await refresherOf()();
    expect(fixture.entries[0]).toEqual({ code: "TOKEN_LIFE", remainingInSeconds: 3 * hour });
  });

  test("reports no life of a token whose lifetime can't be read", async () => {
    await withSecret({ token: "opaque" });
    await refresherOf()();
    expect(fixture.entries.map(({ code }) => code)).toEqual(["TOKEN_REFRESHED"]);
  });

  test.each<[string, { readonly begun: number; readonly ends: number }, () => ProviderAnswer, boolean]>([
    ["refused", { begun: 11, ends: 1 }, () => ({ status: 401 }), true],
    ["not answered", { begun: 11, ends: 1 }, () => ({ status: 500 }), true],
    ["done", { begun: 11, ends: 1 }, () => ({ json: { token: "new" } }), false],
    ["refused soon after it was due", { begun: 7, ends: 5 }, () => ({ status: 401 }), false],
  ])(
    "says that the token is near its end where a refresh is %s",
    async (_, { begun, ends }, answer, isSaid) => {
      fixture.onRefresh = answer;
      await withSecret({ token: await tokenOf(begun, ends) });
      await refresherOf()().catch(() => undefined);
      expect(fixture.entries.some(({ code }) => code === "TOKEN_NEAR_END")).toBe(isSaid);
    },
  );
});
