import { afterAll, beforeEach, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { GuardedApi, ProviderClient } from "../../../adapters/provider/provider-client.ts";
import type { TokenRefusals } from "../../../adapters/provider/token-refusals.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { Unauthorized } from "../../../domain/fetch/answer.ts";
import { parseTokenSecret } from "../../../domain/fetch/token.ts";
import { startTestSystem } from "../../support/engines.ts";
import { providerLimits, unlimited } from "../../support/provider-limits.ts";
import { startTestProvider } from "../../support/test-provider.ts";
import { failureFrom, get, noon } from "./provider-api-fixture.ts";

const [provider, system] = await Promise.all([startTestProvider(), startTestSystem()]);
afterAll(() => Promise.all([provider.close(), system.close()]));

let secretId: string;
let client: ProviderClient;
let time: Date;
let reported: string[];
let ended: string | undefined;

beforeEach(() => {
  provider.requests.length = 0;
  secretId = system.createSecret({ token: "old" });
  reported = [];
  ended = undefined;
  const refusals: Pick<TokenRefusals, "isEnded" | "report"> = {
    isEnded: (versionId) => versionId === ended,
    report: async (versionId) => {
      reported.push(versionId);
    },
  };
  time = noon;
  const now = () => time;
  const reader = secretReader(system.secretsManager, secretId, parseTokenSecret, { now });
  const api = new ProviderApi(provider.url, providerLimits, now);
  client = new ProviderClient(
    new GuardedApi({ api, limiter: unlimited, patienceInSeconds: 0, now }),
    reader,
    refusals,
  );
  provider.answer = ({ headers }) => (headers.authorization === "Bearer new" ? { json: {} } : 401);
});

const rotate = (value: unknown) =>
  system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString: JSON.stringify(value) });
const currentVersion = () => system.secrets.call("GetSecretValue", { SecretId: secretId }).VersionId;
const tokens = () => provider.requests.map(({ headers }) => headers.authorization);
const reads = () => system.calls().get("test secretsmanager:GetSecretValue") ?? 0;
const refused = {
  type: "retryable",
  reason: "the token was refused",
  delayInSeconds: 60,
  spreadInSeconds: 60,
  waitsFor: "permit",
};

test("a refused token is read again, and the call is made once more with the new one", async () => {
  provider.answer = () => ({ json: {} });
  await client.call(get);
  rotate({ token: "new" });
  provider.answer = ({ headers }) => (headers.authorization === "Bearer new" ? { json: { ok: 1 } } : 401);
  expect(await client.call(get)).toMatchObject({ found: true, text: '{"ok":1}' });
  expect(tokens()).toEqual(["Bearer old", "Bearer old", "Bearer new"]);
  await client.call(get);
  expect(tokens().slice(3)).toEqual(["Bearer new"]);
  expect(reported).toEqual([]);
});

test("a token that is refused twice makes the call wait, is not tried again, and is reported", async () => {
  expect(await failureFrom(client.call(get))).toEqual({ ...refused, refused: "unknown" });
  expect(tokens()).toEqual(["Bearer old", "Bearer old"]);
  expect(reported).toEqual([currentVersion()]);
});

test("a second refusal fails its own call only", async () => {
  provider.answer = ({ path }) => (path === "/wrong" ? 401 : { json: {} });
  const [wrong, right] = await Promise.allSettled([
    client.call({ method: "GET", path: "/wrong" }),
    client.call(get),
  ]);
  expect([wrong.status, right.status]).toEqual(["rejected", "fulfilled"]);
  expect(await client.call(get)).toMatchObject({ found: true });
});

test("a token that is refused for one call alone fails that call as 403 does, until it is answered", async () => {
  provider.answer = ({ path }) => (path === "/wrong" ? 401 : { json: {} });
  const wrong = { method: "GET", path: "/wrong" } as const;
  expect(await failureFrom(client.call(wrong))).toMatchObject({ refused: "unknown", waitsFor: "permit" });
  time = new Date(noon.getTime() + 1_000);
  await client.call(get);
  expect(await failureFrom(client.call(wrong))).toEqual({
    type: "retryable",
    reason: "the provider answered 401",
    delayInSeconds: 60,
    refused: "alone",
  });
  expect(reported).toEqual([currentVersion(), currentVersion()]);
  provider.answer = () => ({ json: {} });
  expect(await client.call(wrong)).toMatchObject({ found: true });
});

test("calls that are refused at once share one reading of the secret", async () => {
  provider.answer = () => ({ json: {} });
  await client.call(get);
  rotate({ token: "new" });
  provider.requests.length = 0;
  const allAsked = Promise.withResolvers<void>();
  provider.answer = async ({ headers }, count) => {
    if (headers.authorization === "Bearer new") return { json: {} };
    if (count === 10) allAsked.resolve();
    await allAsked.promise;
    return 401;
  };
  const before = reads();
  await Promise.all(Array.from({ length: 10 }, () => client.call(get)));
  expect(reads() - before).toBe(1);
  expect(tokens().filter((token) => token === "Bearer new")).toHaveLength(10);
});

test("calls that are refused at once with a token that stays read the secret at most twice", async () => {
  const allAsked = Promise.withResolvers<void>();
  let asked = 0;
  const refuse = async () => {
    asked += 1;
    if (asked === 10) allAsked.resolve();
    await allAsked.promise;
    throw new Unauthorized();
  };
  const reader = secretReader(system.secretsManager, secretId, parseTokenSecret, { now: () => noon });
  await reader.read();
  const before = reads();
  const refusals = { isEnded: () => false, report: async () => undefined };
  const ready = { gate: () => undefined, prepare: async () => undefined };
  const refusing = new ProviderClient({ ...ready, send: refuse }, reader, refusals);
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => refusing.call(get)));
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(10);
  expect(reads() - before).toBeLessThanOrEqual(2);
});

test("a call that is refused after others have read the new token uses theirs", async () => {
  provider.answer = () => ({ json: {} });
  await client.call(get);
  rotate({ token: "new" });
  const late = Promise.withResolvers<void>();
  provider.answer = async ({ path, headers }) => {
    if (headers.authorization === "Bearer new") return { json: {} };
    if (path === "/late") await late.promise;
    return 401;
  };
  const slow = client.call({ method: "GET", path: "/late" });
  await client.call(get);
  const before = reads();
  late.resolve();
  expect(await slow).toMatchObject({ found: true });
  expect(reads()).toBe(before);
});

test("a token that is known to be refused waits without a call until another is set", async () => {
  ended = String(currentVersion());
  expect(await failureFrom(client.call(get))).toEqual(refused);
  expect(provider.requests).toEqual([]);
  expect(reported).toEqual([]);
});

test("a gate reports without a request that the token is refused, until another is known", async () => {
  const gate = () => client.gate();
  expect(gate).not.toThrow();
  provider.answer = () => ({ json: {} });
  await client.call(get);
  const before = reads();
  ended = String(currentVersion());
  expect(gate).toThrow("the token was refused");
  expect(reads()).toBe(before);
  rotate({ token: "new" });
  time = new Date(noon.getTime() + 60_000);
  ended = undefined;
  expect(gate).not.toThrow();
});

test("what a call needs is read ahead once, and a failure of that is left to the call", async () => {
  const failing = system.fail("secretsmanager:GetSecretValue");
  await client.prepare();
  failing();
  provider.answer = () => ({ json: {} });
  await client.prepare();
  const before = reads();
  await client.call(get);
  expect(reads()).toBe(before);
});

test("another failure is not retried with another token", async () => {
  provider.answer = () => 500;
  expect(await failureFrom(client.call(get))).toMatchObject({ reason: "the provider answered 500" });
  expect(provider.requests).toHaveLength(1);
});

test("the second call's own failure is reported", async () => {
  provider.answer = (_, count) =>
    count === 1 ? 401 : { status: 429, headers: { "retry-after": "9" }, text: "" };
  expect(await failureFrom(client.call(get))).toMatchObject({
    reason: "the provider answered 429",
    delayInSeconds: 9,
  });
});
