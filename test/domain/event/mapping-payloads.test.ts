import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { webhookKinds } from "../../../domain/event/events.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { accountId, userId } from "../samples.ts";
import { anyIds, map, reasonOf } from "./mapped.ts";

describe("a payload", () => {
  it("may contain nulls in any field, unknown fields and __proto__", () => {
    const payload: unknown = JSON.parse(
      `{"action":"connect_account","account_id":"${accountId}","user_id":null,"datasource_id":null,
        "connected":null,"created_at":null,"data":null,"new":[{"a":1}],"__proto__":{"connected":true}}`,
    );
    expect(map(payload)).toEqual({ type: "account.connected", accountId });
  });

  it("may name subjects in upper case, which equal those in lower case", () => {
    expect(map({ action: "connect_account", account_id: accountId.toUpperCase() }).accountId).toBe(accountId);
  });

  it("with ids that are no UUIDs is refused, or mapped as it is, as the mapping says", () => {
    for (const id of ["acc-1", "ACC 1", `${accountId}0`, 4711, "../x", "😀"]) {
      const payload = { action: "connect_account", account_id: id };
      expect(reasonOf(payload)).toBe('accountId: not a UUID; mapping.ids "any" would accept it');
      expect(map(payload, anyIds).accountId).toBe(String(id));
    }
  });

  it("with a text that no key or queue accepts is refused", () => {
    for (const id of [
      "x".repeat(201),
      "\u0000",
      "a\nb",
      "\ud800",
      "\uffff",
      "a\ufffe",
      "\u007f",
      "\u0085",
      "\u2028",
    ]) {
      expect(reasonOf({ action: "connect_account", account_id: id }, anyIds)).toMatch(/^accountId: /);
      const endpoint = { event: "update_endpoint", account_id: accountId, endpoint: id };
      expect(reasonOf(endpoint, defaultMapping.endpoints)).toMatch(/^endpoint: /);
    }
    expect(map({ action: "connect_account", account_id: "x".repeat(200) }, anyIds).accountId).toHaveLength(
      200,
    );
  });

  it("names an endpoint as the settings do, or is refused", () => {
    const reading = (endpoint: string) => ({ event: "update_endpoint", account_id: accountId, endpoint });
    for (const endpoint of ["income", "banking-info", "A_1", "x".repeat(64)]) {
      expect(map(reading(endpoint), defaultMapping.endpoints).endpoint).toBe(endpoint);
    }
    for (const endpoint of ["../users", "a/b", "a#b", "-a", "a.b", "é", "a b", "x".repeat(65)]) {
      expect(reasonOf(reading(endpoint), defaultMapping.endpoints)).toMatch(/^endpoint: expected up to 64/);
    }
  });

  it("with an unknown event name, or none, is refused", () => {
    for (const action of ["explode_account", "", "CONNECT_ACCOUNT", "constructor", "__proto__", "toString"]) {
      expect(reasonOf({ action, account_id: accountId })).toMatch(/^type: /);
    }
    for (const payload of [{ account_id: accountId }, { action: 5 }, {}, [], null, 5, "text", true]) {
      expect(reasonOf(payload)).toMatch(
        /^type: the payload names no event(, but [a-z ]+)?; see mapping\.type$/,
      );
    }
  });

  it("that names no subject is refused by the missing field", () => {
    expect(reasonOf({ action: "create_user" }, defaultMapping.users)).toMatch(/^userId: missing/);
    expect(reasonOf({ action: "connect_account", user_id: userId })).toMatch(/^accountId: missing/);
    expect(reasonOf({ action: "connect_account", account_id: "" })).toMatch(/^accountId: missing/);
    const { endpoints, "company-accounts": companies } = defaultMapping;
    expect(reasonOf({ action: "connect_account", user_id: userId }, companies)).toMatch(
      /^companyAccountId: mis/,
    );
    expect(reasonOf({ event: "update_endpoint", account_id: accountId }, endpoints)).toMatch(
      /^endpoint: missing/,
    );
    expect(reasonOf({ event: "update_endpoint", endpoint: "income" }, endpoints)).toMatch(
      /^accountId: missing/,
    );
  });

  it("with a field of the wrong type is refused by its name", () => {
    const account = { action: "update_account", account_id: accountId };
    expect(reasonOf({ ...account, connected: "yes" })).toBe(
      "connected: expected true or false, not this text",
    );
    expect(reasonOf({ ...account, connected: "true" })).toMatch(/^connected: /);
    expect(reasonOf({ ...account, user_id: { id: userId } })).toMatch(/^userId: /);
    expect(reasonOf({ ...account, datasource_id: true })).toMatch(/^datasourceId: /);
    const timed = { ...defaultMapping.accounts, time: "sent_at" };
    expect(reasonOf({ ...account, sent_at: "yesterday" }, timed)).toBe(
      "time: expected a date-time, not this text",
    );
    expect(reasonOf({ ...account, sent_at: 20260301 }, timed)).toBe(
      "time: expected a date-time, not this number",
    );
    expect(map({ ...account, sent_at: 1_772_368_496 }, timed).time).toBe("2026-03-01T12:34:56.000Z");
    expect(map({ ...account, sent_at: "2026-03-01 12:00:00 UTC" }, timed).time).toBe(
      "2026-03-01T12:00:00.000Z",
    );
    expect(map({ ...account, sent_at: "" }, timed)).not.toHaveProperty("time");
  });

  it.each([
    ["LOCKED_OUT", "LOCKED_OUT"],
    ["x".repeat(200), "x".repeat(200)],
    ["x".repeat(201), undefined],
    ["two\nlines", undefined],
    [{ code: 7 }, undefined],
    [7, undefined],
    [null, undefined],
  ])("has a reason only if that is one short line: %j", (reason, expected) => {
    const payload = { action: "connect_account", account_id: accountId, why: reason };
    expect(map(payload, { ...anyIds, reason: "why" }).reason).toBe(expected);
  });

  it("is refused permanently, and never quoted in the reason, whatever it contains", () => {
    const canary = "canary-7805112093";
    const broken = fc.oneof(
      fc.constantFrom<unknown>(canary, [canary], { [canary]: canary }, null, 5, true, "", `${canary}\ud800`),
      fc.json().map((text): unknown => JSON.parse(text)),
    );
    const names = [
      "action",
      "event",
      "account_id",
      "user_id",
      "id",
      "connected",
      "endpoint",
      "data",
      "sent_at",
    ];
    const actions = fc.constantFrom(
      "connect_account",
      "update_endpoint",
      "create_user",
      canary,
      "constructor",
    );
    const payload = fc
      .tuple(actions, fc.dictionary(fc.constantFrom(...names), broken))
      .map(([action, fields]) => ({ action, account_id: canary, ...fields }));
    fc.assert(
      fc.property(fc.constantFrom(...webhookKinds), payload, (kind, value) => {
        const mapping = { ...defaultMapping[kind], time: "sent_at" };
        expect(reasonOf(value, mapping) ?? "").not.toContain("canary");
      }),
      { numRuns: 500 },
    );
  });
});
