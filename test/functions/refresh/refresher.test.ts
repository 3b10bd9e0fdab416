import { randomUUID } from "node:crypto";
import {
  type ProviderAnswer,
  startTestProvider,
  type TestProvider,
} from "@income-events/local-stack/provider.ts";
import fc from "fast-check";
import { SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import { readTokenLife } from "../../../adapters/secrets/token-claims.ts";
import { type TokenSecret, tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { refresher } from "../../../functions/refresh/refresher.ts";
import { startTestSystem, type TestSystem } from "../../support/engines.ts";
import { keptLog, type LogEntry } from "../support/lambda.ts";

const hour = 3_600;
const settings = { marginFraction: 0.5, refreshEveryMinutes: 15 };
/** Versions of a secret are dated by the engine's own clock: by then they are older than ten minutes, however slow the machine. */
const later = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 60 * 60_000);

let system: TestSystem;
let remote: TestProvider;
let secretId: string;
let secret: TokenSecret;
let now: Date;
/** The note of refused tokens: its version, and what the refresher concluded. */
let refused: { version?: string; isEnded?: boolean };
let entries: LogEntry[];
/** What the provider answers to a refresh, and to a proof with each token. */
let onRefresh: () => ProviderAnswer | Promise<ProviderAnswer>;
let onProof: (token: string) => ProviderAnswer | Promise<ProviderAnswer>;
let refreshPath: string;

beforeAll(async () => {
  [system, remote] = await Promise.all([startTestSystem(), startTestProvider()]);
});
afterAll(() => Promise.all([system.close(), remote.close()]));

beforeEach(() => {
  entries = [];
  now = later;
  refused = {};
  refreshPath = "/refresh";
  remote.requests.length = 0;
  onRefresh = () => ({ json: { token: "new" } });
  onProof = () => ({ json: [] });
  remote.answer = ({ path, headers }) =>
    path === refreshPath ? onRefresh() : onProof((headers.authorization ?? "").replace("Bearer ", ""));
});

/** A token whose life began so many hours ago and ends in so many. */
function tokenOf(begunHoursAgo: number, endsInHours: number): Promise<string> {
  const seconds = later.getTime() / 1_000;
  return new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt(seconds - begunHoursAgo * hour)
    .setExpirationTime(seconds + endsInHours * hour)
    .sign(Buffer.from("the provider's key"));
}

function setByHand(token: string): void {
  system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString: JSON.stringify({ token }) });
}

async function withSecret(value: unknown): Promise<void> {
  secretId = system.createSecret(value);
  secret = tokenSecret(system.secretsManager, secretId);
}

function refresherOf() {
  const kept = keptLog();
  entries = kept.entries;
  const limits = {
    timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
    maxResponseBytes: 10_000,
    allowPrivateAddresses: true,
  };
  return refresher({
    secret,
    refusals: {
      read: async () => refused.version,
      conclude: async (version, isEnded) => {
        refused = { version, isEnded };
      },
    },
    call: providerApi(remote.url, limits, () => now),
    readLife: readTokenLife,
    refreshPath,
    proofPath: "/users",
    refresh: settings,
    now: () => now,
    log: kept.log,
  });
}

/** What is said of the token's life is said beside, and has a test of its own. */
const codes = () =>
  entries.map(({ code }) => code).filter((code) => code !== "TOKEN_LIFE" && code !== "TOKEN_NEAR_END");
const calls = () => remote.requests.map(({ path, headers }) => `${path} ${headers.authorization}`);
const currentToken = async () => (await secret.current()).token;

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
    expect(remote.requests.length > 0).toBe(code === "TOKEN_REFRESHED");
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

  test.each(["opaque", "a.b.c"])("whose life can't be read is refreshed on every run: %s", async (token) => {
    await withSecret({ token });
    onRefresh = () => ({ json: { token: `${token}-next` } });
    await refresherOf()();
    expect(await currentToken()).toBe(`${token}-next`);
    onRefresh = () => ({ json: { token: `${token}-after` } });
    await refresherOf()();
    expect(await currentToken()).toBe(`${token}-after`);
  });

  test("that is not set yet refreshes nothing, and says so", async () => {
    await withSecret({ placeholder: "x" });
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_MISSING"]);
    expect(calls()).toEqual([]);
  });
});

describe("a refresh", () => {
  let old: string;

  beforeEach(async () => {
    old = await tokenOf(9, 1);
    await withSecret({ token: old });
  });

  test("asks with the old token, proves the new one with one call, and only then makes it current", async () => {
    let duringProof: unknown;
    onProof = () => {
      duringProof = system.secrets.call("GetSecretValue", { SecretId: secretId }).SecretString;
      return { json: [] };
    };
    await refresherOf()();
    expect(calls()).toEqual([`/refresh Bearer ${old}`, "/users Bearer new"]);
    expect(duringProof).toBe(JSON.stringify({ token: old }));
    expect(await secret.current()).toMatchObject({ replaces: expect.any(String) });
    expect(await currentToken()).toBe("new");
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
  });

  test("of which the new token is refused discards it, keeps the old one, and starts afresh in the next run", async () => {
    onProof = () => 401;
    expect(await refresherOf()()).toEqual({ outcome: "discarded" });
    expect(codes()).toEqual(["TOKEN_DISCARDED"]);
    expect(await currentToken()).toBe(old);
    expect(await secret.pending()).toBeUndefined();

    onProof = () => ({ json: [] });
    onRefresh = () => ({ json: { token: "newer" } });
    await refresherOf()();
    expect(await currentToken()).toBe("newer");
  });

  test.each([500, 503, 429])(
    "whose proof is answered with %i keeps the new token pending, and the next run makes it current",
    async (status) => {
      onProof = () => status;
      await expect(refresherOf()()).rejects.toMatchObject({ failure: { kind: "retryable" } });
      expect(await currentToken()).toBe(old);
      expect((await secret.pending())?.token).toBe("new");

      onProof = () => ({ json: [] });
      onRefresh = () => 500;
      await refresherOf()();
      expect(calls().filter((call) => call.startsWith("/refresh"))).toHaveLength(1);
      expect(await currentToken()).toBe("new");
      expect(codes()).toEqual(["TOKEN_REFRESHED"]);
    },
  );

  test("whose promotion failed is ended by the next run", async () => {
    const working = system.fail("secretsmanager:UpdateSecretVersionStage");
    await expect(refresherOf()()).rejects.toThrow("injected by the test");
    working();
    expect(await currentToken()).toBe(old);
    await refresherOf()();
    expect(await currentToken()).toBe("new");
    expect(calls().filter((call) => call.startsWith("/refresh"))).toHaveLength(1);
  });

  test.each([
    ["is asked for again where the provider goes on taking the old token", false],
    ["is refused, and says so, where the provider has ended it", true],
  ])("whose answer could not be stored %s", async (_, isRefused) => {
    const working = system.fail("secretsmanager:PutSecretValue");
    await expect(refresherOf()()).rejects.toThrow("injected by the test");
    working();
    expect(await currentToken()).toBe(old);
    if (isRefused) onRefresh = () => 401;
    await refresherOf()();
    expect(codes()).toEqual([isRefused ? "TOKEN_REFUSED" : "TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe(isRefused ? old : "new");
  });

  test("that is done is not done again: what was promoted is not pending any more", async () => {
    const fresh = await tokenOf(0, 10);
    onRefresh = () => ({ json: { token: fresh } });
    await refresherOf()();
    remote.requests.length = 0;
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_KEPT"]);
    expect(calls()).toEqual([]);
  });

  test("that is refused keeps the old token, raises its code, and asks once a run", async () => {
    onRefresh = () => 401;
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_REFUSED"]);
    expect(calls()).toHaveLength(1);
    expect(await currentToken()).toBe(old);
    expect(await secret.pending()).toBeUndefined();
  });

  test.each<[string, ProviderAnswer, string]>([
    ["503", 503, "the provider answered 503"],
    ["404", 404, "the refresh path is not found; see provider.versions.refresh"],
    ["a page", { text: "<html>" }, "the refresh answer is not JSON"],
    ["a list", { json: [] }, "the refresh answer: expected an object"],
    ["no token", { json: { jwt: "x" } }, "token: expected a text"],
    ["an empty token", { json: { token: "" } }, "token: expected a text"],
    ["a token that is no text", { json: { token: { value: "x" } } }, "token: expected a text"],
  ])("answered with %s fails the run, and keeps the old token", async (_, answer, message) => {
    onRefresh = () => answer;
    await expect(refresherOf()()).rejects.toThrow(message);
    expect(await currentToken()).toBe(old);
    expect(await secret.pending()).toBeUndefined();
  });

  test("that answers with the current token changes nothing, and asks once a run", async () => {
    onRefresh = () => ({ json: { token: old } });
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_UNCHANGED"]);
    expect(calls()).toEqual([`/refresh Bearer ${old}`]);
    expect(await secret.pending()).toBeUndefined();
  });

  test("that answers with an older token keeps the current one", async () => {
    const older = await tokenOf(10, 2);
    onRefresh = () => ({ json: { token: older } });
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_UNCHANGED"]);
    expect(await currentToken()).toBe(old);
  });

  test("while an operator sets a token does not replace it, nor does the next run", async () => {
    const fresh = await tokenOf(0, 10);
    onProof = () => {
      setByHand(fresh);
      return { json: [] };
    };
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_OVERTAKEN"]);
    expect(await currentToken()).toBe(fresh);

    remote.requests.length = 0;
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_OVERTAKEN", "TOKEN_KEPT"]);
    expect(calls()).toEqual([]);
    expect(await currentToken()).toBe(fresh);
    expect(await secret.pending()).toBeUndefined();
  });

  test("neither token shows in the log, nor in what fails", async () => {
    await refresherOf()();
    expect(JSON.stringify(entries)).not.toMatch(/new|eyJ/);
    onRefresh = () => ({ json: { secret: "canary" } });
    await withSecret({ token: old });
    await expect(refresherOf()()).rejects.not.toThrow(/canary|eyJ/);
  });
});

describe("what an earlier run left pending", () => {
  let old: string;
  let next: string;

  beforeEach(async () => {
    [old, next] = await Promise.all([tokenOf(9, 1), tokenOf(0, 10)]);
    await withSecret({ token: old });
    await secret.propose(next, (await secret.current()).versionId);
  });

  test("is proven and made current, without another refresh", async () => {
    await refresherOf()();
    expect(calls()).toEqual([`/users Bearer ${next}`]);
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe(next);
  });

  test("and is refused now is discarded, and a new one asked for in the same run", async () => {
    const newest = await tokenOf(0, 11);
    onRefresh = () => ({ json: { token: newest } });
    onProof = (token) => (token === next ? 401 : { json: [] });
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_DISCARDED", "TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe(newest);
  });

  test("is discarded without a call where an operator has set a token since, also an older one", async () => {
    const byHand = await tokenOf(2, 8);
    setByHand(byHand);
    await refresherOf()();
    expect(calls()).toEqual([]);
    expect(codes()).toEqual(["TOKEN_OVERTAKEN", "TOKEN_KEPT"]);
    expect(await currentToken()).toBe(byHand);
    expect(await secret.pending()).toBeUndefined();
  });
});

describe("two refreshers at once", () => {
  /** Each gets a token of its own; the order in which they are proven is the test's. */
  async function race(lives: readonly [number, number], firstProven: 0 | 1) {
    await withSecret({ token: await tokenOf(9, 1) });
    const tokens = await Promise.all(lives.map((begun) => tokenOf(begun, 10 - begun)));
    const bothAsked = Promise.withResolvers<void>();
    const firstDone = Promise.withResolvers<void>();
    let asked = 0;
    onRefresh = async () => {
      const token = tokens[asked];
      asked += 1;
      if (asked === 2) bothAsked.resolve();
      await bothAsked.promise;
      return { json: { token } };
    };
    onProof = async (token) => {
      if (token !== tokens[firstProven]) await firstDone.promise;
      return { json: [] };
    };
    const runs = [refresherOf(), refresherOf()].map((run) => run());
    await Promise.race(runs);
    firstDone.resolve();
    await Promise.all(runs);
    return tokens;
  }

  test.each<[string, [number, number], 0 | 1]>([
    ["the newer one second", [2, 1], 0],
    ["the newer one first", [2, 1], 1],
    ["the newer one first, got first", [1, 2], 0],
    ["the newer one second, got first", [1, 2], 1],
  ])("never put an older token over a newer one: %s", async (_, lives, firstProven) => {
    const tokens = await race(lives, firstProven);
    const won = tokens[firstProven];
    expect(await currentToken()).toBe(won);
    // The run after it puts the newer one first, if that is the one left pending, and clears up otherwise.
    const left = (await secret.pending())?.token;
    await refresherOf()();
    const newer = tokens[lives[0] < lives[1] ? 0 : 1];
    expect(await currentToken()).toBe(left === newer ? newer : won);
    await refresherOf()();
    const pending = await secret.pending();
    expect(pending === undefined || pending.token === (await currentToken())).toBe(true);
  });

  test("that get the very same token end with it, and leave nothing to do", async () => {
    await withSecret({ token: await tokenOf(9, 1) });
    const same = await tokenOf(0, 10);
    const bothAsked = Promise.withResolvers<void>();
    let asked = 0;
    onRefresh = async () => {
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
        const issuedAt = (token = "") => readTokenLife(token).issuedAt ?? 0;
        let asked = 0;
        onRefresh = async () => {
          const token = tokens[asked];
          asked += 1;
          await scheduler.schedule(Promise.resolve(), "refresh");
          return { json: { token } };
        };
        onProof = async () => {
          await scheduler.schedule(Promise.resolve(), "proof");
          seen.push(issuedAt(await currentToken()));
          return { json: [] };
        };
        const runs = Promise.all([refresherOf()(), refresherOf()()]);
        await scheduler.waitFor(runs);
        onRefresh = () => 500;
        onProof = () => ({ json: [] });
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

describe("a token that calls were refused with", () => {
  let old: string;

  beforeEach(async () => {
    old = await tokenOf(1, 9);
    await withSecret({ token: old });
    refused = { version: (await secret.current()).versionId };
    onProof = (token) => (token === old ? 401 : { json: [] });
  });

  test("is refreshed though its end is far", async () => {
    await refresherOf()();
    expect(calls()).toEqual([`/users Bearer ${old}`, `/refresh Bearer ${old}`, "/users Bearer new"]);
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
    expect(await currentToken()).toBe("new");
  });

  test("is of no use where its refresh is refused as well: said once a run, with one call each", async () => {
    onRefresh = () => 401;
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_REFUSED"]);
    expect(refused.isEnded).toBe(true);
    await refresherOf()();
    expect(calls()).toEqual([
      `/users Bearer ${old}`,
      `/refresh Bearer ${old}`,
      `/users Bearer ${old}`,
      `/refresh Bearer ${old}`,
    ]);
  });

  test("is kept where the provider takes it for others, and is of use again", async () => {
    refused = { ...refused, isEnded: true };
    onProof = () => ({ json: [] });
    await refresherOf()();
    expect(calls()).toEqual([`/users Bearer ${old}`]);
    expect(codes()).toEqual(["TOKEN_STANDS", "TOKEN_KEPT"]);
    expect(refused.isEnded).toBe(false);
  });

  test("is left alone where it is not the current one any more", async () => {
    setByHand(await tokenOf(0, 10));
    now = new Date(later.getTime() + 60_000);
    await refresherOf()();
    expect(calls()).toEqual([]);
    expect(codes()).toEqual(["TOKEN_KEPT"]);
  });

  test("is left alone for ten minutes after it was refreshed: Secrets Manager bears no more versions", async () => {
    await withSecret({ token: old, replaces: randomUUID() });
    refused = { version: (await secret.current()).versionId };
    now = new Date(Date.now() + 9 * 60_000);
    await refresherOf()();
    expect(calls()).toEqual([]);
    expect(codes()).toEqual(["TOKEN_KEPT"]);
    now = later;
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
  });

  test("is judged at once where an operator has just set it: a wrong one is told soon", async () => {
    now = new Date(Date.now() + 60_000);
    onRefresh = () => 401;
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_REFUSED"]);
  });

  test("is asked about again by the next run where this one fails", async () => {
    onRefresh = () => 503;
    await expect(refresherOf()()).rejects.toThrow("the provider answered 503");
    onRefresh = () => ({ json: { token: "new" } });
    await refresherOf()();
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
  });
});

test("a token whose whole life is shorter than the time between two runs is told", async () => {
  await withSecret({ token: await tokenOf(0.1, 0.2) });
  await refresherOf()();
  expect(codes()).toEqual(["TOKEN_SHORT_LIVED", "TOKEN_REFRESHED"]);
});

test.each(["/api/v0.4/token/refresh", "/api/v0.3/token/refresh"])("is refreshed at %s", async (path) => {
  await withSecret({ token: await tokenOf(9, 1) });
  refreshPath = path;
  await refresherOf()();
  expect(calls()[0]).toMatch(path);
  expect(await currentToken()).toBe("new");
});

describe("a run", () => {
  test("tells how long the token lives", async () => {
    await withSecret({ token: await tokenOf(1, 3) });
    await refresherOf()();
    expect(entries[0]).toEqual({ code: "TOKEN_LIFE", remainingInSeconds: 3 * hour });
  });

  test("tells no life of a token whose life can't be read", async () => {
    await withSecret({ token: "opaque" });
    await refresherOf()();
    expect(entries.map(({ code }) => code)).toEqual(["TOKEN_REFRESHED"]);
  });

  test.each<[string, { readonly begun: number; readonly ends: number }, () => ProviderAnswer, boolean]>([
    ["refused", { begun: 11, ends: 1 }, () => ({ status: 401 }), true],
    ["not answered", { begun: 11, ends: 1 }, () => ({ status: 500 }), true],
    ["done", { begun: 11, ends: 1 }, () => ({ json: { token: "new" } }), false],
    ["refused soon after it was due", { begun: 7, ends: 5 }, () => ({ status: 401 }), false],
  ])(
    "says that the token is near its end where a refresh is %s",
    async (_, { begun, ends }, answer, isSaid) => {
      onRefresh = answer;
      await withSecret({ token: await tokenOf(begun, ends) });
      await refresherOf()().catch(() => undefined);
      expect(entries.some(({ code }) => code === "TOKEN_NEAR_END")).toBe(isSaid);
    },
  );
});
