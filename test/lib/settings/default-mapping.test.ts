import { search } from "@aws-lambda-powertools/jmespath";
import { describe, expect, it } from "vitest";
import { isUnordered, type WebhookKind, webhookKinds } from "../../../domain/event/events.ts";
import { mapPayload, type Search } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

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

  it("reads a company account event under each of its ids' names", () => {
    for (const ids of [{ company_account_id: id }, { account_id: id }, { data: { id } }, { company_id: id }])
      expect(
        mapPayload(defaultMapping["company-accounts"], { action: "update_account", ...ids }, evaluate),
      ).toEqual({ type: "company-account.updated", companyAccountId: id });
  });
});
