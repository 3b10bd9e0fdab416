import { describe, expect, it } from "vitest";
import { webhookKinds } from "../../../domain/event/events.ts";
import { isNameOrDate, parseMapping } from "../../../domain/event/mapping.ts";
import { ownerOf, subjectOf } from "../../../domain/event/subjects.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { accountId, userId } from "../samples.ts";
import { anyIds, map, reasonOf } from "./mapped.ts";

describe("the payloads that a public provider documents", () => {
  it("of users are mapped", () => {
    const data = {
      id: userId,
      created_at: "2026-03-01 12:00:00 UTC",
      accounts_number: 2,
      session_expires_at: null,
    };
    const types = { create_user: "user.created", update_user: "user.updated", delete_user: "user.deleted" };
    for (const [action, type] of Object.entries(types)) {
      expect(map({ action, data }, defaultMapping.users)).toEqual({ type, userId });
    }
  });

  it("of accounts and company accounts are mapped at the top level and under data, by action and event", () => {
    const words = {
      create: "created",
      update: "updated",
      connect: "connected",
      disconnect: "disconnected",
      delete: "deleted",
    };
    for (const [verb, word] of Object.entries(words)) {
      for (const connected of [true, false]) {
        const fields = { account_id: accountId, user_id: userId, datasource_id: "uber", connected };
        const facts = { userId, datasourceId: "uber", connected };
        for (const payload of [
          { action: `${verb}_account`, ...fields },
          { event: `${verb}_account`, ...fields },
          { action: `${verb}_account`, data: fields },
          { event: `${verb}_account`, data: fields },
        ]) {
          expect(map(payload)).toEqual({ type: `account.${word}`, accountId, ...facts });
          expect(map(payload, defaultMapping["company-accounts"])).toEqual({
            type: `company-account.${word}`,
            companyAccountId: accountId,
            ...facts,
          });
        }
      }
    }
  });

  it("of endpoints are mapped, with data available or not", () => {
    for (const available of [true, false]) {
      const fields = {
        request_id: userId,
        account_id: accountId,
        user_id: userId,
        endpoint: "income",
        date_start: "2026-01-01",
        date_end: "2026-02-01",
        data_available: available,
      };
      for (const payload of [
        { event: "update_endpoint", ...fields },
        { event: "update_endpoint", data: fields },
      ]) {
        expect(map(payload, defaultMapping.endpoints)).toEqual({
          type: "endpoint.updated",
          accountId,
          userId,
          endpoint: "income",
          eventId: userId,
          dateStart: "2026-01-01",
          dateEnd: "2026-02-01",
          dataAvailable: available,
        });
      }
    }
  });
});

describe("a mapping from the settings", () => {
  it("is read as it was written", () => {
    for (const kind of webhookKinds) {
      expect(parseMapping(JSON.parse(JSON.stringify(defaultMapping[kind])))).toEqual(defaultMapping[kind]);
    }
  });

  it("is read with all that it may say, and identifies events by their bytes if it says nothing known", () => {
    const least = { type: "a", types: { go: "user.updated" }, ids: "any" };
    const full = {
      ...{ ...least, events: "list", identity: "eventId", eventId: { header: "x-id" } },
      attributes: { loanId: "metadata.loan_id" },
    };
    expect(parseMapping(full)).toEqual(full);
    expect(parseMapping({ ...least, time: "", events: "", identity: "other" })).toEqual({
      ...least,
      identity: "body",
    });
    expect(() => parseMapping({ ...least, time: { header: 5 } })).toThrow("time: expected an expression");
    expect(() => parseMapping({ ...least, attributes: { loanId: 5 } })).toThrow(
      "mapping.attributes: expected",
    );
  });

  it("requires UUIDs by default, and is refused if it names no event", () => {
    expect(parseMapping({ type: "a", types: {} }).ids).toBe("uuid");
    expect(parseMapping({ type: "a", types: {}, ids: "any" }).ids).toBe("any");
    expect(() => parseMapping({ types: {} })).toThrow("type: expected an expression or a header");
    expect(() => parseMapping({ type: "a", types: {}, time: { head: "x" } })).toThrow(
      "time: expected an expression or a header",
    );
    expect(() => parseMapping({ type: "a" })).toThrow("mapping.types: expected an object");
    expect(() => parseMapping([])).toThrow("mapping: expected an object");
  });

  it("names an unknown event, but no free text, which may be about a person", () => {
    const mapping = parseMapping({ ...anyIds, types: {} });
    expect(reasonOf({ action: "merge_account" }, mapping)).toBe(
      'type: mapping.types translates no event name "merge_account"',
    );
    const whole = ["connector/status_updated", "a/b/c", `com.example.${"x".repeat(100)}`];
    for (const action of whole) {
      expect(reasonOf({ action }, mapping)).toBe(
        `type: mapping.types translates no event name ${JSON.stringify(action)}`,
      );
    }
    const free = ["Ada Lovelace", "ada@example.com", "+49 170 1234567"];
    for (const action of [
      ...free,
      "https://ada.example",
      "/ada",
      "ada/",
      "a//b",
      "x".repeat(129),
      "acc/123456",
    ]) {
      expect(reasonOf({ action }, mapping)).toBe(
        "type: mapping.types translates no event name of such a form (free text, not shown)",
      );
    }
    expect(reasonOf({ action: 5 }, mapping)).toBe(
      "type: the payload names no event, but this number; see mapping.type",
    );
  });

  it("that returns no known event refuses the payload", () => {
    const mapping = parseMapping({ ...anyIds, types: { go: "account.gone", no: 5 } });
    for (const action of ["go", "no"]) {
      expect(reasonOf({ action, account_id: "a" }, mapping)).toBe(
        `type: mapping.types translates no event name "${action}"`,
      );
    }
  });

  it("with an invalid expression refuses the payload permanently, without showing a value", () => {
    const mapping = { ...anyIds, accountId: "account_id[", time: "sum(account_id)" };
    expect(reasonOf({ action: "connect_account", account_id: "canary" }, mapping)).toMatch(
      /^accountId: the expression fails: \w+$/,
    );
    const failing = { ...anyIds, accountId: "sum(account_id)" };
    expect(reasonOf({ action: "connect_account", account_id: "canary" }, failing)).toMatch(
      /^accountId: the expression fails: \w+$/,
    );
  });
});

describe("the owner of an event", () => {
  const event = { type: "endpoint.updated", userId: "u", accountId: "a", companyAccountId: "c" } as const;

  it("is the user, else the account, else the company account", () => {
    expect(ownerOf(event)).toEqual({ kind: "user", id: "u" });
    expect(ownerOf({ type: event.type, accountId: "a", companyAccountId: "c" })).toEqual({
      kind: "account",
      id: "a",
    });
    expect(ownerOf({ type: event.type, companyAccountId: "c" })).toEqual({
      kind: "company-account",
      id: "c",
    });
    expect(() => ownerOf({ type: event.type })).toThrow("company-account: the event names none");
  });

  it("can differ from its subject", () => {
    expect(subjectOf(event)).toEqual({ kind: "account", id: "a" });
    expect(subjectOf({ ...event, type: "user.updated" })).toEqual({ kind: "user", id: "u" });
    expect(subjectOf({ ...event, type: "company-account.deleted" })).toEqual({
      kind: "company-account",
      id: "c",
    });
    expect(subjectOf({ type: "endpoint.updated", companyAccountId: "c" }).kind).toBe("company-account");
    expect(() => subjectOf({ type: "account.created", userId: "u" })).toThrow(
      "account: the event names none",
    );
  });
});

describe("a value of a payload that may be shown, because it is a name or a date", () => {
  it.each([
    ...["update_user", "connector/status_updated", "v0.5", "v1.2.3", "income", "a".repeat(128), true, false],
    ...["2026-01-31", "2026-01-31 12:00", "2026-01-31T12:00:05Z", "2026-01-31 12:00:05.123 UTC"],
    ...["2026-01-31T12:00:05+01:00", "2026-01-31T12:00-0530", "2026-01-31 12:00:05UTC"],
  ])("is %j", (value) => {
    expect(isNameOrDate(value)).toBe(true);
  });

  it.each([
    ...[
      "Ada Lovelace",
      "ada@example.com",
      "+1 555 0100",
      "12 Main St",
      "a1234",
      "/income",
      "a//b",
      "a".repeat(129),
    ],
    ...["born 2026-01-31", "2026-01-31 in Paris", "12026-01-31", "2026-01-311", "2026-01-3", "2026-01-31T12"],
    ...["2026-01-31T12:00:0", "2026-01-31T12:00:05.Z", "2026-01-31 12:00  UTC", "2026-01-31T12:00:05+1"],
    ...["", 7, null, undefined, ["income"], { name: "income" }],
  ])("is not %j", (value) => {
    expect(isNameOrDate(value)).toBe(false);
  });
});
