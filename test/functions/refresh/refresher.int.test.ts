import { describe, expect, test } from "vitest";
import { proposeByHand } from "../../../adapters/secrets/token-secret.ts";
import type { ProviderAnswer } from "../../support/test-provider.ts";
import { hour, refresherFixture, tokenOf } from "../support/refresher-fixture.ts";

const fixture = refresherFixture();
const { withSecret, newRun, codes, calls, currentToken } = fixture;

describe("a token", () => {
  test.each([
    ["with most of its life before it is kept", 1, 9, "TOKEN_KEPT"],
    ["with a little more than the margin before it is kept", 4.9, 5.1, "TOKEN_KEPT"],
    ["with just the margin before it is refreshed", 5, 5, "TOKEN_REFRESHED"],
    ["near its end is refreshed", 9, 1, "TOKEN_REFRESHED"],
    ["past its end is tried, for the provider decides", 10, -1, "TOKEN_REFRESHED"],
  ])("%s", async (_, begun, ends, code) => {
    await withSecret({ token: await tokenOf(begun, ends) });
    const { outcome } = await newRun()();
    expect(codes()).toEqual([code]);
    expect(code).toBe(`TOKEN_${outcome.toUpperCase()}`);
    expect(fixture.remote.requests.length > 0).toBe(code === "TOKEN_REFRESHED");
  });

  test("that does not expire soon is refreshed on an operator's request, and by no other event", async () => {
    await withSecret({ token: await tokenOf(1, 9) });
    for (const event of [{}, { now: "true" }, { detail: { now: true } }, "now", undefined]) {
      expect(await newRun()(event)).toEqual({ outcome: "kept" });
    }
    expect(calls()).toEqual([]);
    expect(await newRun()({ now: true })).toEqual({ outcome: "refreshed" });
    expect(await currentToken()).toBe("new");
  });

  test.each(["opaque", "a.b.c"])(
    "whose lifetime can't be read is refreshed on every run: %s",
    async (token) => {
      await withSecret({ token });
      fixture.onRefresh = () => ({ json: { token: `${token}-next` } });
      await newRun()();
      expect(await currentToken()).toBe(`${token}-next`);
      fixture.onRefresh = () => ({ json: { token: `${token}-after` } });
      await newRun()();
      expect(await currentToken()).toBe(`${token}-after`);
    },
  );

  test("that is not set yet refreshes nothing, and says so", async () => {
    await withSecret({ placeholder: "x" });
    await newRun()();
    expect(codes()).toEqual(["TOKEN_MISSING"]);
    expect(calls()).toEqual([]);
  });
});

test("a token whose whole lifetime is shorter than the time between two runs is reported", async () => {
  await withSecret({ token: await tokenOf(0.1, 0.2) });
  await newRun()();
  expect(codes()).toEqual(["TOKEN_SHORT_LIVED", "TOKEN_REFRESHED"]);
});

describe("a run", () => {
  test("reports the token's lifetime", async () => {
    await withSecret({ token: await tokenOf(1, 3) });
    await newRun()();
    expect(fixture.entries[0]).toEqual({ code: "TOKEN_TIME_LEFT", remainingInSeconds: 3 * hour });
  });

  test.each<[string, { readonly begun: number; readonly ends: number }, () => ProviderAnswer, boolean]>([
    ["refused", { begun: 11, ends: 1 }, () => ({ status: 401 }), true],
    ["not answered", { begun: 11, ends: 1 }, () => ({ status: 500 }), true],
    ["done", { begun: 11, ends: 1 }, () => ({ json: { token: "new" } }), false],
    ["refused soon after it was due", { begun: 7, ends: 5 }, () => ({ status: 401 }), false],
  ])("reports that the token expires soon if a refresh is %s", async (_, { begun, ends }, answer, isSaid) => {
    fixture.onRefresh = answer;
    await withSecret({ token: await tokenOf(begun, ends) });
    await newRun()().catch(() => undefined);
    expect(fixture.entries.some(({ code }) => code === "TOKEN_NEAR_END")).toBe(isSaid);
  });
});

describe("a new token that can't be tried, for data paths fail", () => {
  test.each([
    ["more than half of the margin is left", 3, "TOKEN_UNPROVEN", "old"],
    ["half of the margin is left", 2.5, "TOKEN_REFRESHED", "new"],
    ["the present one has ended", -0.1, "TOKEN_REFRESHED", "new"],
  ])("waits, and takes over in time: %s", async (_, ends, code, token) => {
    const old = await tokenOf(10 - ends, ends);
    await withSecret({ token: old });
    fixture.onProof = () => ({ status: 503 });
    const { outcome } = await newRun()();
    expect(code).toBe(`TOKEN_${outcome.toUpperCase()}`);
    expect(await currentToken()).toBe(token === "old" ? old : "new");
  });

  test("is tried again in each run, without another refresh, until the provider answers", async () => {
    await withSecret({ token: await tokenOf(6, 4) });
    const page = { text: "<html>", headers: { "content-type": "text/html" } };
    for (const answer of [503, 429, 403, 500, 202, 204, page, { text: "" }]) {
      fixture.onProof = () => answer;
      expect(await newRun()()).toEqual({ outcome: "unproven" });
    }
    fixture.onProof = () => ({ json: [] });
    expect(await newRun()()).toEqual({ outcome: "refreshed" });
    expect(calls().filter((call) => call.startsWith("/refresh"))).toHaveLength(1);
  });

  test("says nothing of a token that calls were refused with", async () => {
    await withSecret({ token: await tokenOf(1, 9) });
    const { versionId } = await fixture.secret.current();
    fixture.refused = { version: versionId };
    fixture.onProof = () => ({ status: 503 });
    expect(await newRun()()).toEqual({ outcome: "kept" });
    expect(fixture.refused.isEnded).toBeUndefined();
  });
});

test("two refreshers at once that get the very same token end with it, and leave nothing to do", async () => {
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
  await Promise.all([newRun()(), newRun()()]);
  expect(await currentToken()).toBe(same);
  await newRun()();
  expect(codes()).toEqual(["TOKEN_KEPT"]);
});

const propose = (token: string) => proposeByHand(fixture.system.secretsManager, fixture.secretId, token);

describe("a token that an operator proposes", () => {
  test("an operator's token that is accepted becomes current with one call, even if it is older", async () => {
    await fixture.withSecret({ token: await tokenOf(1, 9) });
    const older = await tokenOf(2, 8);
    const versionId = await propose(older);
    expect(await newRun()({ prove: versionId })).toEqual({ outcome: "refreshed" });
    expect(await fixture.currentToken()).toBe(older);
    expect(fixture.calls()).toEqual([`/users Bearer ${older}`]);
    // A repeated request finds it current already.
    expect(await newRun()({ prove: versionId })).toEqual({ outcome: "refreshed" });
  });

  test("an operator's token that is refused leaves the present one, and raises no alarm", async () => {
    await fixture.withSecret({ token: "present" });
    fixture.onProof = () => 401;
    const versionId = await propose("wrong");
    expect(await newRun()({ prove: versionId })).toEqual({ outcome: "discarded" });
    expect(await fixture.currentToken()).toBe("present");
    expect(fixture.codes()).toEqual([]);
    expect(await fixture.secret.pending()).toBeUndefined();
  });

  test("the first token of a stage is proven as any other", async () => {
    await fixture.withSecret({ placeholder: "x" });
    const versionId = await propose("first");
    expect(await newRun()({ prove: versionId })).toEqual({ outcome: "refreshed" });
    expect(await fixture.currentToken()).toBe("first");
  });

  test("a version that is no longer pending is ignored", async () => {
    await fixture.withSecret({ token: "present" });
    expect(await newRun()({ prove: "another" })).toEqual({ outcome: "overtaken" });
    expect(fixture.calls()).toEqual([]);
  });
});
