import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { providerApi } from "../../adapters/provider-api.ts";
import { secretReader } from "../../adapters/secret-reader.ts";
import { parseTokenSecret } from "../../adapters/token-secret.ts";
import { type Call, withToken } from "../../adapters/with-token.ts";
import { failureOf } from "../../domain/failures.ts";
import { startTestSystem, type TestSystem } from "../support/engines.ts";
import { startTestProvider, type TestProvider } from "../support/provider.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const limits = {
  timeouts: { connectSeconds: 1, headersSeconds: 5, bodySeconds: 5 },
  maxResponseBytes: 10_000,
  allowPrivateAddresses: true,
};
const get = { method: "GET", path: "/api/v0.4/users" } as const;

let provider: TestProvider;
let system: TestSystem;

beforeAll(async () => {
  [provider, system] = await Promise.all([startTestProvider(), startTestSystem()]);
});
afterAll(() => Promise.all([provider.close(), system.close()]));
beforeEach(() => {
  provider.requests.length = 0;
});

/** What a call fails with. */
async function failureFrom(call: Promise<unknown>) {
  return failureOf(
    await call.then(
      () => expect.fail("answered"),
      (error: unknown) => error,
    ),
  );
}

describe("with the token of the secret", () => {
  let secretId: string;
  let call: Call;

  beforeEach(() => {
    secretId = system.createSecret({ token: "old" });
    call = withToken(
      providerApi(provider.url, limits, () => noon),
      secretReader(system.secretsManager, secretId, parseTokenSecret, () => noon),
    );
    provider.answer = ({ headers }) => (headers.authorization === "Bearer new" ? { json: {} } : 401);
  });

  const rotate = (value: unknown) =>
    system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString: JSON.stringify(value) });
  const tokens = () => provider.requests.map(({ headers }) => headers.authorization);

  test("a refused token is read again, and the call is made once more with the new one", async () => {
    provider.answer = () => ({ json: {} });
    await call(get);
    rotate({ token: "new" });
    provider.answer = ({ headers }) => (headers.authorization === "Bearer new" ? { json: { ok: 1 } } : 401);
    expect(await call(get)).toEqual({ found: true, text: '{"ok":1}' });
    expect(tokens()).toEqual(["Bearer old", "Bearer old", "Bearer new"]);
    await call(get);
    expect(tokens().slice(3)).toEqual(["Bearer new"]);
  });

  test("a token that is refused twice makes the call wait, and is tried no third time", async () => {
    expect(await failureFrom(call(get))).toEqual({
      kind: "retryable",
      reason: "the token was refused",
      delayInSeconds: 60,
      spreadInSeconds: 60,
      waitsFor: "permit",
    });
    expect(tokens()).toEqual(["Bearer old", "Bearer old"]);
  });

  test("another failure is not made up for with another token", async () => {
    provider.answer = () => 500;
    expect(await failureFrom(call(get))).toMatchObject({ reason: "the provider answered 500" });
    expect(provider.requests).toHaveLength(1);
  });

  test("the second call's own failure is told", async () => {
    provider.answer = (_, count) =>
      count === 1 ? 401 : { status: 429, headers: { "retry-after": "9" }, text: "" };
    expect(await failureFrom(call(get))).toMatchObject({
      reason: "the provider answered 429",
      delayInSeconds: 9,
    });
  });

  test("the placeholder of a new deployment is no token: the provider is not called", async () => {
    rotate({ placeholder: "x" });
    expect(await failureFrom(call(get))).toEqual({
      kind: "retryable",
      reason: "no token is set",
      delayInSeconds: 60,
      spreadInSeconds: 60,
      waitsFor: "permit",
    });
    expect(provider.requests).toEqual([]);
  });
});
