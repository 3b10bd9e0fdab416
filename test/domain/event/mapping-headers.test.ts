import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { webhookKinds } from "../../../domain/event/events.ts";
import { headersOf, type KindMapping, mapPayload, parseMapping } from "../../../domain/event/mapping.ts";
import { pickHeaders } from "../../../domain/event/mapping-source.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { changesByTry, mayHoldCredential } from "../../../lib/settings/mapping-schema.ts";

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

  it("reads true and false from a header, and refuses other texts", () => {
    for (const connected of [true, false])
      expect(read({ ...headers, "x-linked": String(connected) })).toMatchObject({ connected });
    expect(() => read({ ...headers, "x-linked": "yes" })).toThrow("connected: expected true or false");
  });

  it("refuses webhooks without them by the missing field, whatever an object inherits", () => {
    expect(() => read({})).toThrow("type: the payload names no event");
    expect(pickHeaders(["constructor"], {})).toEqual({});
    expect(() => mapPayload({ ...mapping, type: { header: "constructor" } }, {}, jmespathSearch, {})).toThrow(
      "type: the payload names no event",
    );
  });

  it("names them all, once, in lower case; those of expressions alone name none", () => {
    expect(headersOf({ ...mapping, eventId: { header: "CE-Type" } })).toEqual([
      "ce-subject",
      "ce-time",
      "ce-type",
      "x-linked",
    ]);
    for (const kind of webhookKinds) expect(headersOf(defaultMapping[kind])).toEqual([]);
    expect(parseMapping(JSON.parse(JSON.stringify(mapping)))).toEqual(mapping);
  });

  it("cannot name a header that may contain a credential", () => {
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

describe("a header that changes from try to try", () => {
  const tries = [
    ...["X-Attempt", "x-delivery-attempt", "x-retry-count", "x-retries", "retry-num", "x-slack-retry-num"],
    ...["webhook-timestamp", "svix-timestamp", "x-slack-request-timestamp", "x-timestamp", "x-sent-at"],
    ...["date", "x-request-id", "traceparent", "x-amzn-trace-id", "x-forwarded-for", "user-agent"],
    ...["x-redelivery", "x-delivery-count", "x-sending-time"],
  ];
  it.each(tries)("is recognized by its name: %s", (name) => expect(changesByTry(name)).toBe(true));

  const others = [
    ...["ce-id", "ce-time", "ce-type", "ce-source", "webhook-id", "svix-id", "x-event-id", "x-event-time"],
    ...["x-event-timestamp", "x-github-delivery", "x-github-event", "x-shopify-triggered-at", "x-topic"],
    ...["idempotency-key", "x-entry", "x-country", "x-industry", "x-user-id", "x-validated-at"],
  ];
  it.each(others)("is none of another name: %s", (name) => expect(changesByTry(name)).toBe(false));
});
