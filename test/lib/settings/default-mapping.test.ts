import { search } from "@aws-lambda-powertools/jmespath";
import { describe, expect, it } from "vitest";
import { isUnordered, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { type KindMapping, mapPayload, type Search } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

const evaluate: Search = (expression, data) => search(expression, JSON.parse(JSON.stringify(data)));

const id = "0f0e0d0c-0b0a-4908-8706-050403020100";
const other = "1f0e0d0c-0b0a-4908-8706-050403020100";

function expressionsOf({ types: _types, ids: _ids, ...sources }: KindMapping): [string, string][] {
  return Object.entries(sources).map(([field, source]) => [field, typeof source === "string" ? source : ""]);
}

describe("the default mapping", () => {
  const all = webhookKinds.flatMap((kind) =>
    expressionsOf(defaultMapping[kind]).map(([field, expression]) => [kind, field, expression] as const),
  );

  it.each(all)("of %s has a valid expression for %s", (_kind, _field, expression) => {
    expect(() => evaluate(expression, {})).not.toThrow();
  });

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

  it.each(["accounts", "company-accounts"] as const)("of %s keeps a `connected` that is false", (kind) => {
    const body = { account_id: id, connected: false };
    const flat = mapPayload(defaultMapping[kind], { action: "update_account", ...body }, evaluate);
    const nested = mapPayload(defaultMapping[kind], { event: "update_account", data: body }, evaluate);
    expect([flat.connected, nested.connected]).toEqual([false, false]);
  });

  // A signature covers the body and no path. Names of account events overlap, and both kinds ask the provider.
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

  it("reads a user event", () => {
    const payload = { action: "create_user", data: { id, created_at: "2026-01-02 03:04:05 UTC" } };
    expect(mapPayload(defaultMapping.users, payload, evaluate)).toEqual({ type: "user.created", userId: id });
  });

  it("reads an account event, flat or nested", () => {
    const body = { account_id: id, user_id: other, datasource_id: "shift-app", connected: true };
    const facts = {
      type: "account.connected",
      accountId: id,
      userId: other,
      datasourceId: "shift-app",
      connected: true,
    };
    const { accounts } = defaultMapping;
    expect(mapPayload(accounts, { action: "connect_account", ...body }, evaluate)).toEqual(facts);
    expect(mapPayload(accounts, { event: "connect_account", data: body }, evaluate)).toEqual(facts);
  });

  it("reads an endpoint event whose data is not available", () => {
    const payload = {
      event: "update_endpoint",
      request_id: other,
      account_id: id,
      endpoint: "income",
      date_start: "2026-01-01",
      date_end: "2026-01-31",
      data_available: false,
    };
    expect(mapPayload(defaultMapping.endpoints, payload, evaluate)).toEqual({
      type: "endpoint.updated",
      accountId: id,
      endpoint: "income",
      eventId: other,
      dateStart: "2026-01-01",
      dateEnd: "2026-01-31",
      dataAvailable: false,
    });
  });

  it("reads a company account event under each of its ids' names", () => {
    const read = (ids: object) =>
      mapPayload(defaultMapping["company-accounts"], { action: "update_account", ...ids }, evaluate);
    for (const ids of [
      { company_account_id: id },
      { account_id: id },
      { data: { id } },
      { company_id: id },
    ]) {
      expect(read(ids)).toEqual({ type: "company-account.updated", companyAccountId: id });
    }
  });
});
