import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { providerApi } from "../../adapters/provider-api.ts";
import { readTokenLife } from "../../adapters/token-claims.ts";
import { type TokenSecret, tokenSecret } from "../../adapters/token-secret.ts";
import { refresher } from "../../functions/refresh/refresher.ts";
import { startTestSystem, type TestSystem } from "../support/engines.ts";
import { type ProviderAnswer, startTestProvider, type TestProvider } from "../support/provider.ts";
import { keptLog, type LogEntry } from "./lambda.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const hour = 3_600;

let system: TestSystem;
let remote: TestProvider;
let secretId: string;
let secret: TokenSecret;
let entries: LogEntry[];
/** What the provider answers to a refresh, and to a proof with each token. */
let onRefresh: () => ProviderAnswer | Promise<ProviderAnswer>;
let onProof: (token: string) => ProviderAnswer;

beforeAll(async () => {
  [system, remote] = await Promise.all([startTestSystem(), startTestProvider()]);
});
afterAll(() => Promise.all([system.close(), remote.close()]));

beforeEach(() => {
  entries = [];
  remote.requests.length = 0;
  onRefresh = () => ({ json: { token: "new" } });
  onProof = () => ({ json: [] });
  remote.answer = ({ path, headers }) =>
    path === "/refresh" ? onRefresh() : onProof((headers.authorization ?? "").replace("Bearer ", ""));
});

/** A token whose life began so many hours ago and ends in so many. */
function tokenOf(begunHoursAgo: number, endsInHours: number): Promise<string> {
  const seconds = noon.getTime() / 1_000;
  return new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt(seconds - begunHoursAgo * hour)
    .setExpirationTime(seconds + endsInHours * hour)
    .sign(Buffer.from("the provider's key"));
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
    call: providerApi(remote.url, limits, () => noon),
    readLife: readTokenLife,
    refreshPath: "/refresh",
    proofPath: "/users",
    marginFraction: 0.5,
    now: () => noon,
    log: kept.log,
  });
}

const codes = () => entries.map(({ code }) => code);
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
    await refresherOf()();
    expect(codes()).toEqual([code]);
    expect(remote.requests.length > 0).toBe(code === "TOKEN_REFRESHED");
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
    expect(await currentToken()).toBe("new");
    expect(codes()).toEqual(["TOKEN_REFRESHED"]);
  });

  test("of which the new token is refused discards it, keeps the old one, and starts afresh in the next run", async () => {
    onProof = () => 401;
    await refresherOf()();
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

  test("by two at once makes one token current at a time, and the next run leaves nothing behind", async () => {
    const bothAsked = Promise.withResolvers<void>();
    let asked = 0;
    onRefresh = async () => {
      asked += 1;
      const token = `new-${asked}`;
      if (asked === 2) bothAsked.resolve();
      await bothAsked.promise;
      return { json: { token } };
    };
    const outcomes = await Promise.allSettled([refresherOf()(), refresherOf()()]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const won = await currentToken();
    expect(["new-1", "new-2"]).toContain(won);

    await refresherOf()();
    await refresherOf()();
    const left = await secret.pending();
    expect(left?.versionId).toBe((await secret.current()).versionId);
  });

  test("while an operator sets a token does not replace it", async () => {
    onProof = () => {
      const SecretString = '{"token":"set by hand"}';
      system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString });
      return { json: [] };
    };
    await expect(refresherOf()()).rejects.toMatchObject({ name: "InvalidParameterException" });
    expect(await currentToken()).toBe("set by hand");
  });

  test("neither token shows in the log, nor in what fails", async () => {
    await refresherOf()();
    expect(JSON.stringify(entries)).not.toMatch(/new|eyJ/);
    onRefresh = () => ({ json: { secret: "canary" } });
    await withSecret({ token: old });
    await expect(refresherOf()()).rejects.not.toThrow(/canary|eyJ/);
  });
});
