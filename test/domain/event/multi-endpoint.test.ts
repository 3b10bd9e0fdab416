import { describe, expect, it } from "vitest";
import { identify } from "../../../domain/event/envelope.ts";
import { parseExact } from "../../../domain/event/lossless-json.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { mergeEach } from "../../../domain/event/mapping-source.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { eventIdsOf } from "../../../proof/scenario/traffic.ts";
import { fixtureText } from "../../fixtures/field/fixture-text.ts";
import { accountId, userId } from "../samples.ts";
import { eventsIn, said } from "./mapped.ts";

const endpoints: KindMapping = { ...defaultMapping.endpoints, ids: "any" };

describe("update_multi_endpoint", () => {
  const about = { account_id: accountId, user_id: userId };
  const updated = (endpoint: string, more = {}) => ({
    ...{ type: "endpoint.updated", userId, accountId, endpoint },
    ...more,
  });
  const name = { event: "update_multi_endpoint" };

  it.each<[string, unknown, readonly object[]]>([
    [
      "as the provider shows it",
      fixtureText("multi-endpoint.json"),
      [
        {
          type: "endpoint.updated",
          userId: "d8ee0653-1293-47fe-990c-45971109de76",
          accountId: "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10",
          endpoint: "income",
          ...{ dataAvailable: true, dateStart: "2026-01-01", dateEnd: "2026-01-31" },
        },
        {
          type: "endpoint.updated",
          userId: "d8ee0653-1293-47fe-990c-45971109de76",
          accountId: "5b7c1a52-0f6e-4b0e-9c39-0a4b3d5b1f10",
          endpoint: "profile",
          dataAvailable: true,
        },
      ],
    ],
    [
      "with names",
      { ...name, ...about, endpoints: ["income", "profile"] },
      [updated("income"), updated("profile")],
    ],
    ["with one name", { ...name, ...about, endpoints: ["income"] }, [updated("income")]],
    [
      "with what holds for all beside the list",
      {
        ...name,
        ...about,
        data_available: false,
        request_id: "r",
        endpoints: [{ endpoint: "income" }, { endpoint: "trips", data_available: true }],
      },
      [
        updated("income", { dataAvailable: false, eventId: "r" }),
        updated("trips", { dataAvailable: true, eventId: "r" }),
      ],
    ],
    [
      "under data",
      { action: "update_multi_endpoint", data: { ...about, endpoints: [{ endpoint: "income" }] } },
      [updated("income")],
    ],
    [
      "with nulls in an element",
      { ...name, ...about, endpoints: [{ endpoint: "income", account_id: null, date_start: null }] },
      [updated("income")],
    ],
    ["with no endpoint", { ...name, ...about, endpoints: [] }, []],
    [
      "with names and an endpoint beside them",
      { ...name, ...about, endpoint: "income", endpoints: ["income", "trips"] },
      [updated("income"), updated("trips")],
    ],
    [
      "with an empty list and one endpoint",
      { event: "update_endpoint", ...about, endpoint: "income", endpoints: [] },
      [updated("income")],
    ],
    [
      "with an empty list and one endpoint under data",
      { event: "update_endpoint", data: { ...about, endpoint: "income", endpoints: [] } },
      [updated("income")],
    ],
    [
      "with null for the list and one endpoint",
      { event: "update_endpoint", ...about, endpoint: "income", endpoints: null },
      [updated("income")],
    ],
  ])("%s is an event for each endpoint", (_, body, expected) => {
    expect(eventsIn(body, endpoints, { kind: "endpoints" }).map(said)).toEqual(expected);
  });

  it("stores each element without the other elements", () => {
    const body = {
      ...name,
      ...about,
      endpoints: [{ endpoint: "income" }, { endpoint: "profile" }],
      others: [{ id: "x" }],
    };
    const [income] = eventsIn(body, endpoints, { kind: "endpoints" });
    expect(JSON.parse(income?.text ?? "")).toEqual({ ...name, ...about, endpoint: "income" });
  });

  it("has the identities that an independent implementation calculates", () => {
    const text = JSON.stringify({
      ...name,
      ...about,
      endpoints: ["income", "profile", "income"].map((endpoint) => ({ endpoint, data_available: true })),
    });
    const events = eventsIn(text, endpoints, { kind: "endpoints" });
    expect(events.map(({ id }) => id)).toEqual(eventIdsOf({ kind: "endpoints", body: Buffer.from(text) }));
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  });

  it("does not change update_endpoint: one event, whose identity is the webhook's", () => {
    const body = { event: "update_endpoint", ...about, endpoint: "income" };
    const id = identify("endpoints", Buffer.from(JSON.stringify(body)));
    expect(eventsIn(body, endpoints, { kind: "endpoints" })).toEqual([{ id, facts: updated("income") }]);
  });
});

describe("merge_each", () => {
  const long = parseExact("12345678901234567890", "the number");

  it.each<[string, unknown, unknown, unknown]>([
    [
      "texts, numbers and booleans to each element",
      [{ a: 1 }, {}],
      { b: "x", c: 2, d: false, e: long },
      [
        { b: "x", c: 2, d: false, e: long, a: 1 },
        { b: "x", c: 2, d: false, e: long },
      ],
    ],
    ["no lists, objects and nulls", [{}], { a: [1], b: {}, c: null }, [{}]],
    ["nothing to a member of the element's own", [{ a: 1, b: null }], { a: 2, b: 3 }, [{ a: 1, b: 3 }]],
    ["nothing to a null that only the element has", [{ a: null }], {}, [{ a: null }]],
    [
      "to what is no object, which becomes a member",
      ["x", 1, [2], long],
      { a: 1 },
      [...["x", 1, [2], long].map((element) => ({ a: 1, element }))],
    ],
    ["nothing if there is no object", [{ a: 1 }], long, [{ a: 1 }]],
    ["nothing to what is no list", "x", { a: 1 }, "x"],
    ["nothing to what is missing", undefined, { a: 1 }, null],
  ])("adds %s", (_, list, object, merged) => {
    expect(mergeEach(list, object)).toEqual(merged);
  });
});
