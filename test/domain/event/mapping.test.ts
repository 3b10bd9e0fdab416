import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { failureOf } from "../../../domain/core/failures.ts";
import { kinds } from "../../../domain/event/events.ts";
import { headersOf, type KindMapping, mapPayload, parseMapping } from "../../../domain/event/mapping.ts";
import { mayHoldCredential, pickHeaders } from "../../../domain/event/mapping-source.ts";
import { ownerOf, subjectOf } from "../../../domain/event/subjects.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

const accountId = "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10";
const userId = "0d9bdb0e-27cf-4f4a-9c6e-6a1d8f0e7a55";
const anyIds: KindMapping = { ...defaultMapping.accounts, ids: "any" };

const map = (payload: unknown, mapping: KindMapping = defaultMapping.accounts) =>
  mapPayload(mapping, payload, jmespathSearch);

/** Why a payload is refused; a refusal that is not permanent is a bug. */
function reasonOf(payload: unknown, mapping: KindMapping = defaultMapping.accounts): string | undefined {
  try {
    map(payload, mapping);
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== "permanent") throw error;
    return failure.reason;
  }
}

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

  it("of accounts and company accounts are mapped, at the top level and under data, by action and event", () => {
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

  it("of company accounts are mapped with an id of their own", () => {
    const payload = { action: "connect_company_account", company_account_id: accountId };
    expect(map(payload, defaultMapping["company-accounts"])).toEqual({
      type: "company-account.connected",
      companyAccountId: accountId,
    });
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

describe("a payload", () => {
  it("may hold nulls in any field, unknown ones and __proto__", () => {
    const payload: unknown = JSON.parse(
      `{"action":"connect_account","account_id":"${accountId}","user_id":null,"datasource_id":null,
        "connected":null,"created_at":null,"data":null,"new":[{"a":1}],"__proto__":{"connected":true}}`,
    );
    expect(map(payload)).toEqual({ type: "account.connected", accountId });
  });

  it("may name subjects in upper case, which are one with those in lower case", () => {
    expect(map({ action: "connect_account", account_id: accountId.toUpperCase() }).accountId).toBe(accountId);
  });

  it("with ids that are no UUIDs is refused, or mapped as it is, as the mapping says", () => {
    for (const id of ["acc-1", "ACC 1", `${accountId}0`, 4711, "../x", "😀"]) {
      const payload = { action: "connect_account", account_id: id };
      expect(reasonOf(payload)).toBe('accountId: not a UUID; mapping.ids "any" would accept it');
      expect(map(payload, anyIds).accountId).toBe(String(id));
    }
  });

  it("with a number as id that JSON has rounded, or a fraction, is refused: two could have become one", () => {
    for (const number of ["9007199254740993", "12345678901234567890", "1.5", "1e21"]) {
      const payload: unknown = JSON.parse(`{"action":"connect_account","account_id":${number}}`);
      expect(reasonOf(payload, anyIds)).toMatch(/^accountId: expected a short text/);
    }
  });

  it("with a text that no key or queue can carry is refused", () => {
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

  it("with an unknown event name, or none, is refused", () => {
    for (const action of ["explode_account", "", "CONNECT_ACCOUNT", "constructor", "__proto__", "toString"]) {
      expect(reasonOf({ action, account_id: accountId })).toMatch(/^type: /);
    }
    for (const payload of [{ account_id: accountId }, { action: 5 }, {}, [], null, 5, "text", true]) {
      expect(reasonOf(payload)).toBe("type: the payload names no event; see mapping.type");
    }
  });

  it("that does not say whom it speaks of is refused by the field that is missing", () => {
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

  it("with a field of the wrong sort is refused by its name", () => {
    const account = { action: "update_account", account_id: accountId };
    expect(reasonOf({ ...account, connected: "yes" })).toBe("connected: expected true or false");
    expect(reasonOf({ ...account, user_id: { id: userId } })).toMatch(/^userId: /);
    expect(reasonOf({ ...account, datasource_id: true })).toMatch(/^datasourceId: /);
    const timed = { ...defaultMapping.accounts, time: "sent_at" };
    expect(reasonOf({ ...account, sent_at: "yesterday" }, timed)).toBe("time: not a date-time");
    expect(reasonOf({ ...account, sent_at: 20260301 }, timed)).toBe("time: not a date-time");
    expect(map({ ...account, sent_at: 1_772_368_496 }, timed).time).toBe("2026-03-01T12:34:56.000Z");
    expect(map({ ...account, sent_at: "2026-03-01 12:00:00 UTC" }, timed).time).toBe(
      "2026-03-01T12:00:00.000Z",
    );
    expect(map({ ...account, sent_at: "" }, timed)).not.toHaveProperty("time");
  });

  it("is refused for good, and never quoted in the reason, whatever it holds", () => {
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
      fc.property(fc.constantFrom(...kinds), payload, (kind, value) => {
        const mapping = { ...defaultMapping[kind], time: "sent_at" };
        expect(reasonOf(value, mapping) ?? "").not.toContain("canary");
      }),
      { numRuns: 500 },
    );
  });
});

describe("a mapping from the settings", () => {
  it("is read as it was written", () => {
    for (const kind of kinds) {
      expect(parseMapping(JSON.parse(JSON.stringify(defaultMapping[kind])))).toEqual(defaultMapping[kind]);
    }
  });

  it("demands UUIDs unless it says otherwise, and is refused where it names no event", () => {
    expect(parseMapping({ type: "a", types: {} }).ids).toBe("uuid");
    expect(parseMapping({ type: "a", types: {}, ids: "any" }).ids).toBe("any");
    expect(() => parseMapping({ types: {} })).toThrow("type: expected an expression or a header");
    expect(() => parseMapping({ type: "a", types: {}, time: { head: "x" } })).toThrow(
      "time: expected an expression or a header",
    );
    expect(() => parseMapping({ type: "a" })).toThrow("mapping.types: expected an object");
    expect(() => parseMapping([])).toThrow("mapping: expected an object");
  });

  it("that translates into no event of ours refuses the payload", () => {
    const mapping = parseMapping({ ...anyIds, types: { go: "account.gone", no: 5 } });
    for (const action of ["go", "no"]) {
      expect(reasonOf({ action, account_id: "a" }, mapping)).toBe(
        "type: mapping.types translates no such event name",
      );
    }
  });

  it("whose expression is broken refuses the payload for good, without a value", () => {
    const mapping = { ...anyIds, accountId: "account_id[", time: "sum(account_id)" };
    expect(reasonOf({ action: "connect_account", account_id: "canary" }, mapping)).toMatch(/^mapping: \w+$/);
    const failing = { ...anyIds, accountId: "sum(account_id)" };
    expect(reasonOf({ action: "connect_account", account_id: "canary" }, failing)).toMatch(/^mapping: \w+$/);
  });
});

describe("a mapping that reads headers", () => {
  const mapping: KindMapping = {
    type: { header: "ce-type" },
    types: { "com.example.connected": "account.connected" },
    accountId: { header: "ce-subject" },
    userId: "data.user",
    time: { header: "ce-time" },
    connected: { header: "x-linked" },
    ids: "any",
  };
  const headers = {
    "ce-type": "com.example.connected",
    "ce-subject": "acc%201%2F%C3%A4",
    "ce-time": "2026-03-01T12:00:00Z",
  };
  const read = (given: Readonly<Record<string, string>>, body: unknown = { data: { user: "u-1" } }) =>
    mapPayload(mapping, body, jmespathSearch, pickHeaders(headersOf(mapping), given));

  it("takes fields from them and from the body, and undoes the escapes of CloudEvents", () => {
    expect(read(headers)).toEqual({
      type: "account.connected",
      accountId: "acc 1/ä",
      userId: "u-1",
      time: "2026-03-01T12:00:00.000Z",
    });
    expect(read({ ...headers, "ce-subject": "100%" }).accountId).toBe("100%");
    expect(read(headers, null)).not.toHaveProperty("userId");
  });

  it("reads true and false out of a header, and refuses another text", () => {
    for (const connected of [true, false])
      expect(read({ ...headers, "x-linked": String(connected) })).toMatchObject({ connected });
    expect(() => read({ ...headers, "x-linked": "yes" })).toThrow("connected: expected true or false");
  });

  it("refuses what lacks them by the field that is missing, whatever an object inherits", () => {
    expect(() => read({})).toThrow("type: the payload names no event");
    expect(() => mapPayload({ ...mapping, type: { header: "constructor" } }, {}, jmespathSearch, {})).toThrow(
      "type: the payload names no event",
    );
  });

  it("names them all, once, in small letters; those of expressions alone name none", () => {
    expect(headersOf({ ...mapping, eventId: { header: "CE-Type" } })).toEqual([
      "ce-subject",
      "ce-time",
      "ce-type",
      "x-linked",
    ]);
    for (const kind of kinds) expect(headersOf(defaultMapping[kind])).toEqual([]);
    expect(parseMapping(JSON.parse(JSON.stringify(mapping)))).toEqual(mapping);
  });

  it("can't name what may hold a credential", () => {
    const refused = [
      "authorization",
      "proxy-authorization",
      "cookie",
      "set-cookie",
      "x-webhook-secret",
      "x-signature",
    ];
    for (const name of [...refused, "X-Api-Key", "ce-session", "ce-link", "x-amz-security-token", "x-jwt"]) {
      expect(mayHoldCredential(name), name).toBe(true);
    }
    const taken = [
      "ce-type",
      "ce-id",
      "ce-subject",
      "ce-time",
      "ce-source",
      "webhook-id",
      "idempotency-key",
      "x-event",
    ];
    for (const name of taken) expect(mayHoldCredential(name), name).toBe(false);
  });
});

describe("whom an event belongs to", () => {
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

  it("is another thing than whom it speaks of", () => {
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
