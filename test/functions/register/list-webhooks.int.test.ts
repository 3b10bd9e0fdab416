import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ProviderApi } from "../../../adapters/provider/provider-api.ts";
import type { OwnWebhook } from "../../../domain/reconcile/registrations.ts";
import { listWebhooks } from "../../../functions/register/list-webhooks.ts";
import { providerLimits } from "../../support/provider-limits.ts";
import { startTestProvider } from "../../support/test-provider.ts";

const ownWebhooks: readonly OwnWebhook[] = [
  { name: "users", path: "/users" },
  { name: "accounts", path: "/accounts" },
  { name: "endpoints", path: "/endpoints" },
  { name: "company-accounts", path: "/company" },
];
const deployed = (kind: string) => `https://api.example/webhooks/${kind}`;

const remote = await startTestProvider();
afterAll(() => remote.close());
beforeEach(() => {
  remote.requests.length = 0;
});

function list({ readsFirst = false, isListed = false, webhooks = ownWebhooks, signing = "" } = {}) {
  const api = new ProviderApi(remote.url, providerLimits, () => new Date());
  return listWebhooks({
    client: { call: (each) => api.send("jwt", each) },
    webhooks,
    isNewer: isListed,
    webhooksUrl: "https://api.example/webhooks/",
    readsFirst,
    secretHeader: { name: "x-webhook-secret" },
    readSecret: async () => ({
      secret: { current: "hook-secret", ...(signing !== "" && { signing }) },
      since: new Date(0),
      versionId: "v",
    }),
    times: { propagationSeconds: 120, overlapSeconds: 86_400 },
    now: () => new Date(),
    log: () => undefined,
  });
}

async function listed(options = {}) {
  const answer = await list(options);
  return "webhooks" in answer ? answer.webhooks : [];
}

describe("the list of webhooks", () => {
  test("reports for each kind whether it goes to its own deployed address, or where else, and changes nothing", async () => {
    remote.answer = ({ path }) => ({
      json: {
        url: path === "/accounts" ? "https://api.example/hooks" : deployed(kindAt(path)),
        method: "POST",
      },
    });
    expect(await listed()).toEqual([
      { kind: "users", deployed: deployed("users"), type: "here" },
      {
        kind: "accounts",
        deployed: deployed("accounts"),
        type: "elsewhere",
        url: "https://api.example/hooks",
      },
      { kind: "endpoints", deployed: deployed("endpoints"), type: "here" },
      { kind: "company-accounts", deployed: deployed("company-accounts"), type: "here" },
    ]);
    expect(remote.requests.map(({ method }) => method)).toEqual(Array(4).fill("GET"));
  });

  test("is read from the list of interface 0.5 by type; a disabled webhook counts as none, a missing list as unknown", async () => {
    const webhooks: readonly OwnWebhook[] = [
      { name: "users", path: "/v/webhooks/users" },
      { name: "accounts", path: "/v/webhooks/accounts" },
      { name: "endpoints", path: "/v/webhooks/endpoints" },
      { name: "multi-endpoints", path: "/v/webhooks/multi-endpoints" },
      { name: "company-endpoints", path: "/company/webhooks/endpoints" },
    ];
    const data = [
      { type: "users", url: deployed("users"), enabled: true },
      { type: "accounts", url: deployed("accounts"), enabled: false },
      { type: "multi_endpoints", url: deployed("endpoints") },
    ];
    remote.answer = ({ path }) => (path === "/v/webhooks" ? { json: { data, size: 3 } } : 404);
    expect(await listed({ isListed: true, webhooks })).toMatchObject([
      { kind: "users", type: "here" },
      { kind: "accounts", type: "none" },
      { kind: "endpoints", type: "none" },
      { kind: "multi-endpoints", deployed: deployed("endpoints"), type: "here" },
      { kind: "company-endpoints", type: "untold" },
    ]);
  });

  const names = { header_names: ["X-Webhook-Secret"] };
  test.each<[string, string, object, readonly string[] | undefined]>([
    ["nothing else", "", {}, undefined],
    ["nothing else, though bodies are signed", "key", {}, undefined],
    ["all as it is registered", "key", { ...names, method: "POST", enabled: true, signed: true }, undefined],
    ["that it does not sign", "key", { ...names, signed: false }, ["unsigned"]],
    ["no secret", "key", { secret: null }, ["unsigned"]],
    ["an empty secret", "key", { secret: "" }, ["unsigned"]],
    ["a masked secret", "key", { secret: "****" }, undefined],
    ["that it has no secret", "key", { has_secret: false }, ["unsigned"]],
    ["that it signs, where nobody asks", "", { signed: true }, ["signed"]],
    ["no header", "", { headers: {} }, ["header"]],
    ["the header by another case", "", { headers: { "X-WEBHOOK-SECRET": "***" } }, undefined],
    ["another header", "", { header_names: ["x-other"] }, ["header"]],
    ["headers as a list", "", { headers: [{ name: "x-webhook-secret" }] }, undefined],
    ["another method", "", { method: "PUT" }, ["method"]],
    ["that it is not enabled", "", { enabled: false }, ["enabled"]],
    ["several", "key", { signed: false, header_names: [], method: "PUT" }, ["unsigned", "header", "method"]],
  ])("compares field by field what the provider reports: %s", async (_, signing, more, differs) => {
    remote.answer = ({ path }) => ({ json: { url: deployed(kindAt(path)), ...more } });
    const [users] = await listed({ signing });
    expect(users).toEqual({
      kind: "users",
      deployed: deployed("users"),
      type: "here",
      ...(differs && { differs }),
    });
  });

  test("treats a path without a webhook as unregistered only if the provider is known to list them", async () => {
    remote.answer = () => 404;
    const states = async (readsFirst: boolean) => (await listed({ readsFirst })).map(({ type: is }) => is);
    expect(await states(true)).toEqual(Array(4).fill("none"));
    expect(await states(false)).toEqual(Array(4).fill("untold"));
  });

  test.each([
    ["does not allow to read", 405, "the provider answered 405"],
    ["answers that it is not ready", 202, "the provider answered 202: not ready"],
    ["answers without an address", { json: {} }, "url: expected a text"],
  ])("reports the reason if the provider %s", async (_, answer, reason) => {
    remote.answer = () => answer;
    expect((await listed())[0]).toMatchObject({ type: "untold", reason });
  });

  test.each([
    ["is down", 503, "the provider answered 503"],
    ["answers with a page", { text: "<html>" }, "the provider answered 200 with what is not JSON"],
  ])("is unknown if the provider %s, which is no failure of the function", async (_, answer, unknown) => {
    remote.answer = () => answer;
    expect(await list()).toEqual({ unknown });
    expect(remote.requests).toHaveLength(1);
  });
});

function kindAt(path: string): string {
  return ownWebhooks.find((each) => each.path === path)?.name ?? "";
}
