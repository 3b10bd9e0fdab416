import { search } from "@aws-lambda-powertools/jmespath";
import { describe, expect, it } from "vitest";
import { isUnordered, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { ignoredName, mapPayload, type Search } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { parseSettings } from "../../../lib/settings/settings.ts";

const evaluate: Search = (expression, data) => search(expression, JSON.parse(JSON.stringify(data)));

const id = "0f0e0d0c-0b0a-4908-8706-050403020100";
const other = "1f0e0d0c-0b0a-4908-8706-050403020100";

describe("the default mapping", () => {
  it.each(webhookKinds)("of %s maps no time: the provider shows none", (kind) => {
    expect(defaultMapping[kind]).not.toHaveProperty("time");
  });

  it.each(["users", "accounts", "company-accounts"] as const)("of %s maps no event id", (kind) => {
    expect(defaultMapping[kind]).not.toHaveProperty("eventId");
  });

  it("distinguishes an endpoint event that names its fetch from one whose bytes can truly repeat", () => {
    const body = { event: "update_endpoint", account_id: id, endpoint: "income" };
    const read = (payload: object) => isUnordered(mapPayload(defaultMapping.endpoints, payload, evaluate));
    expect(read({ ...body, request_id: other })).toBe(false);
    expect(read({ event: "update_endpoint", data: { ...body, request_id: other } })).toBe(false);
    expect(read({ ...body, request_id: null })).toBe(true);
    expect(read(body)).toBe(true);
  });

  // A signature covers the body but not the path. Names of account events overlap, and both kinds call the
  // provider.
  it("refuses bodies of each kind on another kind's path, but for accounts on that of company accounts", () => {
    const bodies = {
      users: { action: "create_user", data: { id } },
      accounts: { event: "create_account", account_id: id, user_id: other },
      endpoints: { event: "update_endpoint", account_id: id, user_id: other, endpoint: "income" },
      "company-accounts": { event: "create_account", account_id: id },
    };
    const accepts = (kind: WebhookKind, body: object) => {
      try {
        mapPayload(defaultMapping[kind], body, evaluate);
        return true;
      } catch {
        return false;
      }
    };
    const accepted = webhookKinds.flatMap((kind) =>
      webhookKinds.flatMap((path) => (accepts(path, bodies[kind]) ? [`${kind} on ${path}`] : [])),
    );
    expect(accepted).toEqual([
      "users on users",
      "accounts on accounts",
      "accounts on company-accounts",
      "endpoints on endpoints",
      "company-accounts on accounts",
      "company-accounts on company-accounts",
    ]);
  });

  it("reads a company account event under each of its ids' names", () => {
    for (const ids of [{ company_account_id: id }, { account_id: id }, { data: { id } }, { company_id: id }])
      expect(
        mapPayload(defaultMapping["company-accounts"], { action: "update_account", ...ids }, evaluate),
      ).toEqual({ type: "company-account.updated", companyAccountId: id });
  });

  const newer = { created_at: "2024-04-25T19:32:49.765013012Z", user_id: other };
  const account = { ...newer, datasource_id: id, account_id: id };
  const fetched = { endpoint: "income", data_available: true };
  const update = { ...fetched, event: "update_endpoint", account_id: id };
  const updated = { type: "endpoint.updated", endpoint: "income", dataAvailable: true };
  it.each<[string, WebhookKind, object, object]>([
    [
      "a user with metadata",
      "users",
      { ...newer, event: "create_user", metadata: { id, user_id: "17", data: { id } }, account_count: 0 },
      { type: "user.created", userId: other },
    ],
    [
      "a changed user without metadata",
      "users",
      { ...newer, event: "update_user", metadata: null },
      { type: "user.updated", userId: other },
    ],
    [
      "a connected account",
      "accounts",
      { ...account, action: "connect_account", connected: true },
      { type: "account.connected", accountId: id, userId: other, datasourceId: id, connected: true },
    ],
    [
      "a company's account",
      "company-accounts",
      { ...account, action: "disconnect_account", company_id: other, connected: false },
      {
        type: "company-account.disconnected",
        companyAccountId: id,
        userId: other,
        datasourceId: id,
        connected: false,
      },
    ],
    [
      "an endpoint of an account",
      "endpoints",
      { ...update, user_id: null, company_id: null },
      { ...updated, accountId: id },
    ],
    [
      "an endpoint of a company's account",
      "endpoints",
      { ...update, company_id: other },
      { ...updated, companyAccountId: id },
    ],
    [
      "an endpoint of a company's account under data",
      "endpoints",
      { event: "update_endpoint", data: { ...fetched, account_id: id, company_id: other } },
      { ...updated, companyAccountId: id },
    ],
  ])("of interface 0.5 reads %s", (_name, kind, body, facts) => {
    expect(mapPayload(defaultMapping[kind], body, evaluate)).toEqual(facts);
  });

  it("ignores steps in the connection flow, which have no name, unless `types` maps them", () => {
    const flow = {
      user_id: other,
      account_id: id,
      datasource_id: id,
      screen: "credentials",
      duration: 12,
      tracking_id: "t-1",
      device_type: "desktop",
      connection_status: "failed",
      status_description: "locked",
      timestamp: "2024-04-25T19:32:49.765013012Z",
      auth_method: "password",
    };
    const nameOf = (kind: WebhookKind, body: object) =>
      ignoredName(defaultMapping[kind], { body, headers: {} }, evaluate);
    expect(nameOf("accounts", flow)).toBe("connect_flow");
    const search = { user_id: other, screen: "search", account_id: null, connection_status: null };
    expect(nameOf("users", search)).toBe("connect_flow");
    expect(nameOf("accounts", { ...flow, action: "connect_account" })).toBeUndefined();
    expect(nameOf("users", { user_id: other })).toBeUndefined();

    const types = { ...defaultMapping.accounts.types, connect_flow: "account.updated" } as const;
    const { accounts } = parseSettings({ production: false, mapping: { accounts: { types } } }, "f").mapping;
    expect(ignoredName(accounts, { body: flow, headers: {} }, evaluate)).toBeUndefined();
    expect(mapPayload(accounts, flow, evaluate)).toMatchObject({ type: "account.updated", accountId: id });
  });
});
