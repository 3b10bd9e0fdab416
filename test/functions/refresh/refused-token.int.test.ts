import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { later, refresherFixture, tokenOf } from "../support/refresher-fixture.ts";

const fixture = refresherFixture();
const { setByHand, withSecret, newRun, codes, calls, currentToken } = fixture;

describe("a token that calls were refused with", () => {
  let old: string;

  beforeEach(async () => {
    old = await tokenOf(1, 9);
    await withSecret({ token: old });
    fixture.refused = { version: (await fixture.secret.current()).versionId };
    fixture.onProof = (token) => (token === old ? 401 : { json: [] });
  });

  test("is refreshed though its end is far", async () => {
    await newRun()();
    expect(calls()).toEqual([`/users Bearer ${old}`, `/refresh Bearer ${old}`, "/users Bearer new"]);
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe("new");
  });

  test("is revoked if its refresh is refused too: reported once per run, with one call each", async () => {
    fixture.onRefresh = () => 401;
    await newRun()();
    expect(codes()).toEqual(["TOKEN_REFUSED"]);
    expect(fixture.refused.isEnded).toBe(true);
    await newRun()();
    expect(calls()).toEqual([
      `/users Bearer ${old}`,
      `/refresh Bearer ${old}`,
      `/users Bearer ${old}`,
      `/refresh Bearer ${old}`,
    ]);
  });

  test("is kept if the provider accepts it for others, and is used again", async () => {
    fixture.refused = { ...fixture.refused, isEnded: true };
    fixture.onProof = () => ({ json: [] });
    await newRun()();
    expect(calls()).toEqual([`/users Bearer ${old}`]);
    expect(codes()).toEqual(["TOKEN_STILL_VALID", "TOKEN_KEPT"]);
    expect(fixture.refused.isEnded).toBe(false);
  });

  test("is refreshed once if the provider answers the proof with 403, and is never reported as revoked", async () => {
    fixture.onProof = () => 403;
    await newRun()();
    await newRun()();
    expect(calls().filter((call) => call.startsWith("/refresh"))).toHaveLength(1);
    expect(fixture.refused.isEnded).toBeUndefined();
  });

  test("is ignored if it is no longer the current one", async () => {
    setByHand(await tokenOf(0, 10));
    fixture.now = new Date(later.getTime() + 60_000);
    await newRun()();
    expect(calls()).toEqual([]);
    expect(codes()).toEqual(["TOKEN_KEPT"]);
  });

  describe("within ten minutes of its own refresh", () => {
    beforeEach(async () => {
      await withSecret({ token: old, replaces: randomUUID() });
      fixture.refused = { version: (await fixture.secret.current()).versionId };
      fixture.now = new Date(Date.now() + 9 * 60_000);
    });

    test("is not replaced by itself, since Secrets Manager bears no more versions, and said to be of no use", async () => {
      await newRun()();
      expect(calls()).toEqual([`/users Bearer ${old}`]);
      expect(codes()).toEqual(["TOKEN_REFUSED"]);
      expect(fixture.refused.isEnded).toBe(true);
      fixture.now = later;
      await newRun()();
      expect(codes()).toEqual(["TOKEN_REFRESHED"]);
    });

    test("is replaced on an operator's request", async () => {
      await newRun()({ now: true });
      expect(codes()).toEqual(["TOKEN_REFRESHED"]);
    });

    test("is kept if the provider accepts it for others", async () => {
      fixture.onProof = () => ({ json: [] });
      await newRun()();
      expect(codes()).toEqual(["TOKEN_STILL_VALID", "TOKEN_KEPT"]);
    });
  });

  test("is checked at once if an operator has just set it: a wrong one is reported soon", async () => {
    fixture.now = new Date(Date.now() + 60_000);
    fixture.onRefresh = () => 401;
    await newRun()();
    expect(codes()).toEqual(["TOKEN_REFUSED"]);
  });

  test("is checked again by the next run if this one fails", async () => {
    fixture.onRefresh = () => 503;
    await expect(newRun()()).rejects.toThrow("the provider answered 503");
    fixture.onRefresh = () => ({ json: { token: "new" } });
    await newRun()();
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
  });
});
