import { beforeEach, describe, expect, test } from "vitest";
import type { ProviderAnswer } from "../../support/test-provider.ts";
import { refresherFixture, tokenOf } from "../support/refresher-fixture.ts";

const fixture = refresherFixture();
const { setByHand, withSecret, newRun, codes, calls, currentToken } = fixture;

describe("a refresh", () => {
  let old: string;

  beforeEach(async () => {
    old = await tokenOf(9, 1);
    await withSecret({ token: old });
  });

  test("asks with the old token, proves the new one with one call, and only then makes it current", async () => {
    let duringProof: unknown;
    fixture.onProof = () => {
      duringProof = fixture.system.secrets.call("GetSecretValue", {
        SecretId: fixture.secretId,
      }).SecretString;
      return { json: [] };
    };
    await newRun()();
    expect(calls()).toEqual([`/refresh Bearer ${old}`, "/users Bearer new"]);
    expect(duringProof).toBe(JSON.stringify({ token: old }));
    expect(await fixture.secret.current()).toMatchObject({ replaces: expect.any(String) });
    expect(await currentToken()).toBe("new");
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
  });

  test("of which the new token is refused discards it, keeps the old one, and starts afresh in the next run", async () => {
    fixture.onProof = () => 401;
    expect(await newRun()()).toEqual({ outcome: "discarded" });
    expect(codes()).toEqual(["TOKEN_DISCARDED"]);
    expect(await currentToken()).toBe(old);
    expect(await fixture.secret.pending()).toBeUndefined();

    fixture.onProof = () => ({ json: [] });
    fixture.onRefresh = () => ({ json: { token: "newer" } });
    await newRun()();
    expect(await currentToken()).toBe("newer");
  });

  test.each(["two words", "line\nend", "naïve"])(
    "whose new token is malformed discards it untried, and the next run is not held up: %j",
    async (malformed) => {
      fixture.onRefresh = () => ({ json: { token: malformed } });
      const writes = () => fixture.system.calls().get("test secretsmanager:PutSecretValue") ?? 0;
      const before = writes();
      expect(await newRun()()).toEqual({ outcome: "discarded" });
      // It was never proposed: there is no pending version at any time.
      expect(writes()).toBe(before);
      expect(codes()).toEqual(["TOKEN_DISCARDED"]);
      expect(calls()).toEqual([`/refresh Bearer ${old}`]);
      expect(await fixture.secret.pending()).toBeUndefined();

      fixture.onRefresh = () => ({ json: { token: "newer" } });
      await newRun()();
      expect(await currentToken()).toBe("newer");
      expect(writes()).toBeGreaterThan(before);
    },
  );

  test("continues after a malformed token was left pending: it is discarded unproven", async () => {
    await fixture.secret.propose("two words", (await fixture.secret.current()).versionId);
    await newRun()();
    expect(codes()).toEqual(["TOKEN_DISCARDED", "TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe("new");
  });

  test("whose promotion failed is ended by the next run", async () => {
    const working = fixture.system.fail("secretsmanager:UpdateSecretVersionStage");
    await expect(newRun()()).rejects.toThrow("injected by the test");
    working();
    expect(await currentToken()).toBe(old);
    await newRun()();
    expect(await currentToken()).toBe("new");
    expect(calls().filter((call) => call.startsWith("/refresh"))).toHaveLength(1);
  });

  test("that is refused keeps the old token, raises its code, and asks once a run", async () => {
    fixture.onRefresh = () => 401;
    await newRun()();
    expect(codes()).toEqual(["TOKEN_REFUSED"]);
    expect(calls()).toHaveLength(1);
    expect(await currentToken()).toBe(old);
    expect(await fixture.secret.pending()).toBeUndefined();
  });

  test.each<[string, ProviderAnswer, string]>([
    ["503", 503, "the provider answered 503"],
    ["404", 404, "the refresh path is not found; see provider.versions.refresh"],
    ["202", { status: 202, json: { token: "x" } }, "the provider answered 202: not ready"],
    ["a page", { text: "<html>" }, "the provider answered 200 with what is not JSON"],
    ["a list", { json: [] }, "the refresh answer: expected an object"],
    ["no token", { json: { jwt: "x" } }, "token: expected a text"],
    ["an empty token", { json: { token: "" } }, "token: expected a text"],
    ["a token that is no text", { json: { token: { value: "x" } } }, "token: expected a text"],
  ])("answered with %s fails the run, and keeps the old token", async (_, answer, message) => {
    fixture.onRefresh = () => answer;
    await expect(newRun()()).rejects.toThrow(message);
    expect(await currentToken()).toBe(old);
    expect(await fixture.secret.pending()).toBeUndefined();
  });

  test("that answers with the current token changes nothing, and asks once a run", async () => {
    fixture.onRefresh = () => ({ json: { token: old } });
    await newRun()();
    expect(codes()).toEqual(["TOKEN_UNCHANGED"]);
    expect(calls()).toEqual([`/refresh Bearer ${old}`]);
    expect(await fixture.secret.pending()).toBeUndefined();
  });

  test("while an operator sets a token does not replace it, nor does the next run", async () => {
    const fresh = await tokenOf(0, 10);
    fixture.onProof = () => {
      setByHand(fresh);
      return { json: [] };
    };
    await newRun()();
    expect(codes()).toEqual(["TOKEN_OVERTAKEN"]);
    expect(await currentToken()).toBe(fresh);

    fixture.remote.requests.length = 0;
    await newRun()();
    expect(codes()).toEqual(["TOKEN_OVERTAKEN", "TOKEN_KEPT"]);
    expect(calls()).toEqual([]);
    expect(await currentToken()).toBe(fresh);
    expect(await fixture.secret.pending()).toBeUndefined();
  });

  test("neither token shows in the log, nor in what fails", async () => {
    await newRun()();
    expect(JSON.stringify(fixture.entries)).not.toMatch(/new|eyJ/);
    fixture.onRefresh = () => ({ json: { secret: "canary" } });
    await withSecret({ token: old });
    await expect(newRun()()).rejects.not.toThrow(/canary|eyJ/);
  });
});

describe("what an earlier run left pending", () => {
  let old: string;
  let next: string;

  beforeEach(async () => {
    [old, next] = await Promise.all([tokenOf(9, 1), tokenOf(0, 10)]);
    await withSecret({ token: old });
    await fixture.secret.propose(next, (await fixture.secret.current()).versionId);
  });

  test("and is refused now is discarded, and a new one asked for in the same run", async () => {
    const newest = await tokenOf(0, 11);
    fixture.onRefresh = () => ({ json: { token: newest } });
    fixture.onProof = (token) => (token === next ? 401 : { json: [] });
    await newRun()();
    expect(codes()).toEqual(["TOKEN_DISCARDED", "TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe(newest);
  });

  test("is discarded without a call if an operator has set a token since, even an older one", async () => {
    const byHand = await tokenOf(2, 8);
    setByHand(byHand);
    await newRun()();
    expect(calls()).toEqual([]);
    expect(codes()).toEqual(["TOKEN_OVERTAKEN", "TOKEN_KEPT"]);
    expect(await currentToken()).toBe(byHand);
    expect(await fixture.secret.pending()).toBeUndefined();
  });
});
