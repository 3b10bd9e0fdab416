import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../domain/core/failures.ts";
import { identifyByEventId, identifyElement } from "../../../domain/event/envelope.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { fixtureText } from "../../fixtures/field/fixture-text.ts";
import { accounts, connect, connected, eventsIn, said } from "./mapped.ts";

function refusalOf(action: () => unknown): string {
  try {
    action();
    return "none";
  } catch (error) {
    const failure = failureOf(error);
    return failure.type === "permanent" ? failure.reason : "not permanent";
  }
}

describe("a webhook's list of events", () => {
  it.each<[string, string, unknown, readonly unknown[]]>([
    ["of one", "@", [connect("a")], [connected("a")]],
    ["of two", "@", [connect("a"), connect("b")], [connected("a"), connected("b")]],
    ["under a name", "events", { id: "batch", events: [connect("a")] }, [connected("a")]],
    ["deep inside", "data.items[].event", { data: { items: [{ event: connect("a") }] } }, [connected("a")]],
    [
      "in several lists",
      "batches[].events[]",
      { batches: [{ events: [connect("a")] }, { events: [connect("b"), connect("c")] }] },
      [connected("a"), connected("b"), connected("c")],
    ],
    [
      "as an object's values",
      "values(@)",
      { x: connect("a"), y: connect("b") },
      [connected("a"), connected("b")],
    ],
    ["that is empty", "events", { events: [] }, []],
    ["that is not there: the webhook is one event", "events", connect("a"), [connected("a")]],
    ["that is null: the webhook is one event", "events", { ...connect("a"), events: null }, [connected("a")]],
    ["or one event, as some providers send", "[@][]", connect("a"), [connected("a")]],
    ["or one event, of a provider that sends a list", "[@][]", [connect("a")], [connected("a")]],
    [
      "with invalid elements: only they fail",
      "@",
      [null, connect("a"), 5, []],
      [
        "type: the payload names no event; see mapping.type",
        connected("a"),
        "type: the payload names no event; see mapping.type",
        "type: the payload names no event; see mapping.type",
      ],
    ],
    [
      "with shared fields that are merged into each",
      "merge_each(changes, @)",
      { account_id: "a", changes: [{ action: "connect_account" }, { action: "disconnect_account" }] },
      [connected("a"), { type: "account.disconnected", accountId: "a" }],
    ],
  ])("%s", (_, events, body, expected) => {
    expect(eventsIn(body, { ...accounts, events }).map(said)).toEqual(expected);
  });

  it.each<[string, unknown, string]>([
    ["an object", { events: { a: 1 } }, "events: expected a list, not an object"],
    ["a text", { events: "connect_account" }, "events: expected a list, not this text"],
    ["a number", { events: 12345678901234567890n }, "events: expected a list, not this number"],
    ["false", { events: false }, "events: expected a list, not true or false"],
    [
      "a list of 1,001",
      { events: Array.from({ length: 1_001 }, (_, index) => connect(`a-${index}`)) },
      "events: a list of 1001, and one webhook may hold 1000 events",
    ],
  ])("is refused as a whole if it is %s", (_, body, reason) => {
    const text = JSON.stringify(body, (_name, value) => (typeof value === "bigint" ? Number(value) : value));
    expect(refusalOf(() => eventsIn(text, { ...accounts, events: "events" }))).toBe(reason);
  });

  it("may contain 1,000 events", () => {
    const list = Array.from({ length: 1_000 }, (_, index) => connect(`a-${index}`));
    const events = eventsIn(list, { ...accounts, events: "@" });
    expect(new Set(events.map(({ id }) => id)).size).toBe(1_000);
  });

  it("applies its webhook's header to each, and ignores those with an ignored name", () => {
    const mapping: KindMapping = {
      ...accounts,
      events: "@",
      type: { header: "x-topic" },
      types: { linked: "account.connected" },
    };
    const events = eventsIn([{ account_id: "a" }, { account_id: "b" }], mapping, {
      headers: { "x-topic": "linked" },
    });
    expect(events.map(said)).toEqual([connected("a"), connected("b")]);
    const ignoring = { ...accounts, events: "@", types: { ...accounts.types, ping: "ignore" } };
    expect(eventsIn([{ event: "ping" }, connect("a")], ignoring).map(said)).toEqual([
      "ignored ping",
      connected("a"),
    ]);
  });
});

describe("the identity of an element", () => {
  const mapping = { ...accounts, events: "@" };
  const idsOf = (...events: Parameters<typeof eventsIn>) => eventsIn(...events).map(({ id }) => id);

  it("depends on its webhook, its text and its number among equal ones, never on its position", () => {
    const [a, b] = [connect("a"), connect("b")];
    const webhook = { id: "webhook" };
    const [first, second, third] = idsOf([a, b, a], mapping, webhook);
    expect(first).toBe(identifyElement("webhook", JSON.stringify(a), 1));
    expect(second).toBe(identifyElement("webhook", JSON.stringify(b), 1));
    expect(third).toBe(identifyElement("webhook", JSON.stringify(a), 2));
    expect(idsOf([b, a, a], mapping, webhook)).toEqual([second, first, third]);
    // A later mapping's filter changes positions.
    const filtered = { ...mapping, events: "[?account_id == 'b']" };
    expect(idsOf([a, b, a], filtered, webhook)).toEqual([second]);
    expect(idsOf([a], mapping, { id: "other" })).not.toContain(first);
  });

  it("keeps the digits of long numbers", () => {
    const list = `[{"action":"connect_account","account_id":1227795846152789711},{"action":"connect_account","account_id":1227795846152789722}]`;
    const events = eventsIn(list, mapping);
    expect(events.map(({ text }) => text)).toEqual([
      '{"action":"connect_account","account_id":1227795846152789711}',
      '{"action":"connect_account","account_id":1227795846152789722}',
    ]);
    expect(events.map(said)).toEqual([connected("1227795846152789711"), connected("1227795846152789722")]);
  });

  it("is unique for each element, and the same in any order", () => {
    const element = fc.record({
      account_id: fc.constantFrom("a", "b"),
      extra: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(element, { maxLength: 12 }), (list) => {
        const ids = idsOf(list, mapping, { id: "w" });
        expect(new Set(ids).size).toBe(list.length);
        expect(new Set(idsOf(list.toReversed(), mapping, { id: "w" }))).toEqual(new Set(ids));
      }),
    );
  });

  it("is kept by a dead letter of a single element", () => {
    const [event] = eventsIn([connect("a")], mapping);
    const again = eventsIn(event?.text ?? "", mapping, { id: event?.id ?? "", isElement: true });
    expect(again).toEqual([{ id: event?.id, facts: connected("a") }]);
  });
});

describe("an identity by the provider's id of the event", () => {
  const mapping: KindMapping = { ...accounts, identity: "eventId", eventId: "event_id", time: "occurred_at" };
  const retries = ["retry-first-body.json", "retry-second-body.json", "retry-reserialized.json"].map(
    fixtureText,
  );

  it("depends only on the event id and the kind", () => {
    const ids = new Set(retries.map((text) => eventsIn(text, mapping)[0]?.id));
    expect([...ids]).toEqual([identifyByEventId("accounts", "evt-retry-1")]);
    const [other] = eventsIn({ ...connect("a"), event_id: "evt-retry-2" }, mapping);
    expect(ids).not.toContain(other?.id);
    const company = {
      ...defaultMapping["company-accounts"],
      ids: "any",
      identity: "eventId",
      eventId: "event_id",
    } as const;
    const [sameId] = eventsIn(retries[0] ?? "", company, { kind: "company-accounts" });
    expect(ids).not.toContain(sameId?.id);
  });

  it("is not used by default: three different bodies are three events", () => {
    const ids = new Set(retries.map((text) => eventsIn(text, { ...mapping, identity: "body" })[0]?.id));
    expect(ids.size).toBe(3);
  });

  it("may be in a header, and includes no other header", () => {
    const byHeader: KindMapping = {
      ...accounts,
      identity: "eventId",
      eventId: { header: "x-event-id" },
      datasourceId: { header: "x-node" },
    };
    const idOf = (headers: Record<string, string>) => eventsIn(connect("a"), byHeader, { headers })[0]?.id;
    expect(idOf({ "x-event-id": "e-1", "x-node": "one" })).toBe(
      idOf({ "x-event-id": "e-1", "x-node": "two" }),
    );
    expect(idOf({ "x-event-id": "e-1" })).not.toBe(idOf({ "x-event-id": "e-2" }));
  });

  it.each([
    ["is missing", {}],
    ["is null", { event_id: null }],
    ["is empty", { event_id: "" }],
  ])("refuses an event whose id %s: its bytes say too little", (_, more) => {
    expect(eventsIn({ ...connect("a"), ...more }, mapping).map(said)).toEqual([
      "eventId: missing in the payload, and mapping.identity is eventId; see mapping.eventId",
    ]);
  });

  it("depends on kind and event id in a list too, and refuses a second event with the same id", () => {
    const list = [
      { ...connect("a"), event_id: "e-1" },
      { ...connect("b"), event_id: "e-2" },
      { event_id: "e-1", ...connect("a") },
      { ...connect("c"), event_id: "e-2" },
    ];
    const events = eventsIn(list, { ...mapping, events: "@" });
    expect(events.slice(0, 3).map(({ id }) => id)).toEqual(
      ["e-1", "e-2", "e-1"].map((id) => identifyByEventId("accounts", id)),
    );
    expect(events.slice(3).map(said)).toEqual([
      "eventId: another event of the same webhook has this one; see mapping.identity",
    ]);
  });
});
