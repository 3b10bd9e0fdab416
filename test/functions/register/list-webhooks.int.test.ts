import { startTestProvider, type TestProvider } from "@income-events/local-stack/provider.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { providerApi } from "../../../adapters/provider/provider-api.ts";
import type { OwnWebhook } from "../../../domain/reconcile/registrations.ts";
import { listWebhooks } from "../../../functions/register/list-webhooks.ts";
import { providerLimits } from "../../support/provider-limits.ts";

const ownWebhooks: readonly OwnWebhook[] = [
  { name: "users", path: "/users" },
  { name: "accounts", path: "/accounts" },
  { name: "endpoints", path: "/endpoints" },
  { name: "company-accounts", path: "/company" },
];
const deployed = (kind: string) => `https://api.example/webhooks/${kind}`;

let remote: TestProvider;
beforeAll(async () => {
  remote = await startTestProvider();
});
afterAll(() => remote.close());
beforeEach(() => {
  remote.requests.length = 0;
});

function list({ readsFirst = false, isListed = false, webhooks = ownWebhooks } = {}) {
  const call = providerApi(remote.url, providerLimits, () => new Date());
  return listWebhooks({
    call: (each) => call("jwt", each),
    webhooks,
    isListed,
    webhooksUrl: "https://api.example/webhooks/",
    readsFirst,
  });
}

async function listed(options = {}) {
  const answer = await list(options);
  return "webhooks" in answer ? answer.webhooks : [];
}

describe("the list of webhooks", () => {
  test("says of each kind whether it goes to its own deployed address, or where else, and changes nothing", async () => {
    remote.answer = ({ path }) => ({
      json: {
        url: path === "/accounts" ? "https://api.example/hooks" : deployed(kindAt(path)),
        method: "POST",
      },
    });
    expect(await listed()).toEqual([
      { kind: "users", deployed: deployed("users"), is: "here" },
      { kind: "accounts", deployed: deployed("accounts"), is: "elsewhere", url: "https://api.example/hooks" },
      { kind: "endpoints", deployed: deployed("endpoints"), is: "here" },
      { kind: "company-accounts", deployed: deployed("company-accounts"), is: "here" },
    ]);
    expect(remote.requests.map(({ method }) => method)).toEqual(Array(4).fill("GET"));
  });

  test("is read from the list of interface 0.5 by types, where a disabled webhook is none and a missing list says nothing", async () => {
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
      { kind: "users", is: "here" },
      { kind: "accounts", is: "none" },
      { kind: "endpoints", is: "none" },
      { kind: "multi-endpoints", deployed: deployed("endpoints"), is: "here" },
      { kind: "company-endpoints", is: "untold" },
    ]);
  });

  test("takes a path without a webhook for none only where the provider is known to list them", async () => {
    remote.answer = () => 404;
    const states = async (readsFirst: boolean) => (await listed({ readsFirst })).map(({ is }) => is);
    expect(await states(true)).toEqual(Array(4).fill("none"));
    expect(await states(false)).toEqual(Array(4).fill("untold"));
  });

  test.each([
    ["does not allow to read", 405, "the provider answered 405"],
    ["answers that it is not ready", 202, "the provider answered 202: not ready"],
    ["answers without an address", { json: {} }, "url: expected a text"],
  ])("says why where the provider %s", async (_, answer, reason) => {
    remote.answer = () => answer;
    expect((await listed())[0]).toMatchObject({ is: "untold", reason });
  });

  test.each([
    ["is down", 503, "the provider answered 503"],
    ["answers with a page", { text: "<html>" }, "the provider answered 200 with what is not JSON"],
  ])(
    "is unknown where the provider %s: to look is no failure of the function",
    async (_, answer, unknown) => {
      remote.answer = () => answer;
      expect(await list()).toEqual({ unknown });
      expect(remote.requests).toHaveLength(1);
    },
  );
});

function kindAt(path: string): string {
  return ownWebhooks.find((each) => each.path === path)?.name ?? "";
}
