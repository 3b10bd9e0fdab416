import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import { GuardedApi, ProviderClient } from "../../../adapters/provider/provider-client.ts";
import { secretReader } from "../../../adapters/secrets/secret-reader.ts";
import { webhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import { type SecretHeader, valueOfKind } from "../../../domain/core/webhook-secret.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { parseTokenSecret } from "../../../domain/fetch/token.ts";
import type { OwnWebhook } from "../../../domain/reconcile/registrations.ts";
import { registrar } from "../../../functions/register/registrar.ts";
import { startTestSystem } from "../../support/engines.ts";
import { providerLimits, unlimited } from "../../support/provider-limits.ts";
import { type ProviderAnswer, startTestProvider } from "../../support/test-provider.ts";
import { noRefusals } from "../../support/tokens.ts";
import { keptLog, type LogEntry } from "../support/lambda.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const paths = {
  users: "/api/v0.3/webhooks/users",
  accounts: "/api/v0.3/webhooks/accounts",
  endpoints: "/api/v0.3/webhooks/endpoints",
  "company-accounts": "/api/company/v0.5/webhooks/accounts",
} as const;
const ownWebhooks: readonly OwnWebhook[] = Object.entries(paths).map(([name, path]) => {
  return { name: webhookKinds.find((kind) => kind === name) ?? "users", path };
});

let entries: LogEntry[];
const [system, remote] = await Promise.all([startTestSystem(), startTestProvider()]);
afterAll(() => Promise.all([system.close(), remote.close()]));
beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = () => ({ json: {} });
});

function registrarOf({
  secret = { current: "hook-secret" } as unknown,
  token = { token: "jwt" } as unknown,
  secondsSinceChange = 3_600,
  readsFirst = false,
  isNewer = false,
  webhooks = ownWebhooks,
  secretHeader = { name: "x-webhook-secret" } as SecretHeader,
} = {}) {
  const kept = keptLog();
  entries = kept.entries;
  const now = () => noon;
  const secretId = system.createSecret(secret);
  const store = webhookSecretStore(system.secretsManager, secretId);
  const changedAt = new Date(noon.getTime() - secondsSinceChange * 1000);
  const tokenId = system.createSecret(token);
  const tokenReader = secretReader(system.secretsManager, tokenId, parseTokenSecret, { now });
  const unguarded = new ProviderApi(remote.url, providerLimits, now);
  const api = new GuardedApi({ api: unguarded, limiter: unlimited, patienceInSeconds: 0, now });
  const run = registrar({
    client: new ProviderClient(api, tokenReader, noRefusals),
    webhooks,
    isNewer,
    webhooksUrl: "https://api.example/webhooks",
    secretHeader,
    // The engine's clock is real: moves the time of the last change onto this test's clock.
    readSecret: async () => ({ ...(await store.read()), since: changedAt }),
    times: { propagationSeconds: 120, overlapSeconds: 3 * 86_400 },
    readsFirst,
    now,
    log: kept.log,
  });
  return { run, secretId };
}

test("registers all four kinds, each with its address and its own value of the secret", async () => {
  await registrarOf().run();
  expect(
    remote.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      authorization: headers.authorization,
      body: JSON.parse(body),
    })),
  ).toEqual(
    Object.entries(paths).map(([kind, path]) => ({
      method: "PUT",
      path,
      authorization: "Bearer jwt",
      body: {
        url: `https://api.example/webhooks/${kind}`,
        method: "POST",
        headers: { "x-webhook-secret": valueOfKind("hook-secret", kind) },
      },
    })),
  );
  expect(entries).toEqual([{ code: "WEBHOOKS_REGISTERED", count: 4 }]);
});

test.each([
  ["Bearer", (value: string) => `Bearer ${value}`],
  ["Basic", (value: string) => `Basic ${Buffer.from(`income-events:${value}`).toString("base64")}`],
] as const)("registers the value with the scheme of the settings: %s", async (scheme, written) => {
  await registrarOf({ secretHeader: { name: "authorization", scheme } }).run();
  expect(
    remote.requests.map(({ headers, body }) => [headers.authorization, JSON.parse(body).headers]),
  ).toEqual(
    Object.keys(paths).map((kind) => [
      "Bearer jwt",
      { authorization: written(valueOfKind("hook-secret", kind)) },
    ]),
  );
});

describe("where the provider speaks interface 0.5", () => {
  const webhooks: readonly OwnWebhook[] = [
    { name: "users", path: "/api/v0.5/webhooks/users" },
    { name: "multi-endpoints", path: "/api/v0.5/webhooks/multi-endpoints" },
    { name: "company-endpoints", path: "/company/v0.5/webhooks/endpoints" },
    { name: "connect-events", path: "/api/v0.5/webhooks/name-connect-events" },
  ];

  test("each webhook is enabled, and those that are no kind go to the address of one, with its secret", async () => {
    const { run } = registrarOf({ isNewer: true, webhooks });
    expect((await run()).registered).toEqual(webhooks.map(({ name }) => name));
    const bodyAt = (kind: string) => ({
      url: `https://api.example/webhooks/${kind}`,
      method: "POST",
      headers: { "x-webhook-secret": valueOfKind("hook-secret", kind) },
      enabled: true,
    });
    expect(remote.requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      [webhooks[0]?.path, bodyAt("users")],
      [webhooks[1]?.path, bodyAt("endpoints")],
      [webhooks[2]?.path, bodyAt("endpoints")],
      [webhooks[3]?.path, bodyAt("accounts")],
    ]);
  });

  test("another stage's webhook is found in the provider's list, also one of several that share an address", async () => {
    const elsewhere = { type: "multi_endpoints", url: "https://other.example/x", enabled: true };
    remote.answer = ({ method, path }) =>
      method === "GET" && path === "/api/v0.5/webhooks"
        ? { json: { data: [elsewhere], size: 1 } }
        : { json: {} };
    await expect(registrarOf({ isNewer: true, readsFirst: true, webhooks }).run()).rejects.toThrow(
      "the provider sends the webhooks of multi-endpoints to https://other.example",
    );
  });
});

const rotated = { current: "newer", previous: "hook-secret", previousUntil: "2026-11-24T12:00:00Z" };
const registeredSecrets = () =>
  remote.requests.map(({ body }) => JSON.parse(body).headers["x-webhook-secret"]);
const valuesOf = (secret: string) => Object.keys(paths).map((kind) => valueOfKind(secret, kind));

test.each<[string, ProviderAnswer]>([
  ["JSON", { json: {} }],
  ["an empty 200", { text: "" }],
  ["202", { status: 202, json: {} }],
  ["204", 204],
])("the registrar returns what is registered, where the provider answers with %s", async (_, answer) => {
  remote.answer = () => answer;
  const registered = ["users", "accounts", "endpoints", "company-accounts"];
  expect(await registrarOf().run()).toEqual({ registered, secret: "current" });
});

test("the registrar keeps the value that every receiver accepts in the middle of a rotation", async () => {
  const { run } = registrarOf({ secret: rotated, secondsSinceChange: 119 });
  expect(await run()).toMatchObject({ secret: "previous", readyInSeconds: 1 });
  expect(registeredSecrets()).toEqual(valuesOf("hook-secret"));
  expect(entries).toEqual([{ code: "WEBHOOKS_REGISTERED_PREVIOUS", count: 4, delayInSeconds: 1 }]);
});

test("the registrar reads the secret again at each run, whatever an earlier run read", async () => {
  const { run, secretId } = registrarOf();
  await run();
  const SecretString = JSON.stringify(rotated);
  system.secrets.call("PutSecretValue", { SecretId: secretId, SecretString });
  await run();
  expect(registeredSecrets()).toEqual([...valuesOf("hook-secret"), ...valuesOf("newer")]);
});

describe("where bodies are signed", () => {
  const until = "2026-11-24T12:00:00Z";
  const first = { current: "hook-secret", signing: "one" };
  const second = { ...first, signing: "two", previousSigning: "one", previousSigningUntil: until };
  const removed = { current: "hook-secret", previousSigning: "two", previousSigningUntil: until };
  const header = { current: "newer", previous: "hook-secret", previousUntil: until };
  const old = "2026-11-22T12:00:00Z";

  test.each<[string, object, number, { readonly key?: string; readonly ready?: number }]>([
    ["a first key is registered at once", first, 1, { key: "one" }],
    ["a key is registered at each run", first, 90_000, { key: "one" }],
    ["another key waits until every receiver knows it", second, 119, { key: "one", ready: 1 }],
    ["another key is registered then", second, 120, { key: "two" }],
    ["and back", { ...second, signing: "one", previousSigning: "two" }, 120, { key: "one" }],
    ["without a key it is taken away once every receiver knows", removed, 119, { key: "two", ready: 1 }],
    ["and then is", removed, 120, {}],
    ["a rotation of the header's value leaves it", { ...first, ...header }, 119, { key: "one", ready: 1 }],
    [
      "and that of a key that was changed long before",
      { ...second, ...header, previousSigningUntil: old },
      119,
      { key: "two", ready: 1 },
    ],
    ["without a key there is none", { current: "hook-secret" }, 1, {}],
  ])("%s", async (_, secret, secondsSinceChange, expected) => {
    const answer = await registrarOf({ secret, secondsSinceChange }).run();
    expect(answer.readyInSeconds).toBe(expected.ready);
    expect(remote.requests.map(({ body }) => JSON.parse(body).secret)).toEqual(Array(4).fill(expected.key));
  });
});

describe("where no token is set", () => {
  const scheduled = { "detail-type": "Scheduled Event" };

  test("a scheduled run calls nobody, is no failure, and says so", async () => {
    const { run } = registrarOf({ token: { placeholder: "x" } });
    expect(await run(scheduled)).toEqual({ registered: [], secret: "current" });
    expect(remote.requests).toEqual([]);
    expect(entries).toEqual([{ code: "WEBHOOKS_NOT_REGISTERED", reason: "no token is set" }]);
  });

  test("a scheduled run that fails for another reason fails", async () => {
    remote.answer = () => 500;
    await expect(registrarOf().run(scheduled)).rejects.toThrow();
  });
});

describe("where the provider lists what is registered", () => {
  const registered = (url: string) => {
    remote.answer = ({ method, path }) =>
      method === "PUT" ? { json: {} } : path === paths.accounts ? { json: { url, method: "POST" } } : 404;
  };
  const puts = () => remote.requests.filter(({ method }) => method === "PUT").map(({ path }) => path);

  test("webhooks of another stage are left to it, all of them, with what to do", async () => {
    registered("https://other.example/webhooks/accounts");
    await expect(registrarOf({ readsFirst: true }).run()).rejects.toThrow(
      "the provider sends the webhooks of accounts to https://other.example: another stage registers there. " +
        'Take them over with "webhooks register --take-over", or set register.enabled to false for this stage',
    );
    expect(puts()).toEqual([]);
  });

  test("they are taken over on request, and only then", async () => {
    registered("https://other.example/webhooks/accounts");
    for (const event of [{}, { takeOver: "true" }, { detail: { takeOver: true } }, "takeOver"]) {
      await expect(registrarOf({ readsFirst: true }).run(event)).rejects.toThrow(
        "another stage registers there",
      );
    }
    await registrarOf({ readsFirst: true }).run({ takeOver: true });
    expect(puts()).toEqual(Object.values(paths));
  });

  test("its own webhooks are put again, also those of an earlier path, and so are those that nobody has", async () => {
    registered("https://api.example/hooks/of-before");
    expect(await registrarOf({ readsFirst: true }).run()).toMatchObject({ secret: "current" });
    expect(puts()).toEqual(Object.values(paths));
  });

  test.each([
    ["no address", "somewhere", "the registration of accounts: its url is no address"],
    ["nothing", "", "url: expected a text"],
  ])("a registration that names %s fails the run", async (_, url, message) => {
    registered(url);
    await expect(registrarOf({ readsFirst: true }).run()).rejects.toThrow(message);
    expect(puts()).toEqual([]);
  });

  test("without the setting nothing is read", async () => {
    registered("https://other.example/webhooks/accounts");
    await registrarOf().run();
    expect(remote.requests.map(({ method }) => method)).toEqual(Array(4).fill("PUT"));
  });
});

describe("a registration fails the run, and says what to do, where", () => {
  test("the webhook secret is empty: nothing is registered", async () => {
    const { run } = registrarOf({ secret: { current: "" } });
    await expect(run()).rejects.toThrow("the webhook secret is empty: set one before registering");
    expect(remote.requests).toEqual([]);
  });

  test("no token is set: nothing is called", async () => {
    await expect(registrarOf({ token: { placeholder: "x" } }).run()).rejects.toThrow("no token is set");
    expect(remote.requests).toEqual([]);
  });

  test.each<[string, ProviderAnswer, string]>([
    ["404", 404, "the provider knows no webhook at the path of endpoints; see provider.paths"],
    ["422", 422, "the provider answered 422"],
    ["503", 503, "the provider answered 503"],
    ["401", 401, "the token was refused"],
    ["206", { status: 206, json: {} }, "the provider answered 206: a part of what was asked for"],
    ["425", 425, "the provider answered 425: not ready"],
    [
      "a page",
      { text: "<html>Maintenance</html>", headers: { "content-type": "text/html" } },
      "the provider answered 200 with text/html in place of JSON",
    ],
  ])("the provider answers one kind with %s", async (_, answer, message) => {
    remote.answer = ({ path }) => (path === paths.endpoints ? answer : { json: {} });
    await expect(registrarOf().run()).rejects.toThrow(message);
    expect(entries).toEqual([]);
  });
});
