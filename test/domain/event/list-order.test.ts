import { describe, expect, it } from "vitest";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { accounts, connect, connected, eventsIn, said } from "./mapped.ts";

describe("a list where none is expected", () => {
  const first = { ...accounts, type: "[0].action", accountId: "[0].account_id" };
  const inside = { ...accounts, type: "events[0].action", accountId: "events[0].account_id" };
  const cut = (field: string) =>
    `${field}: takes one of several elements of a list and drops the others; see mapping.events`;
  const whole = "type: the payload names no event, but is a list; see mapping.events";

  it.each<[string, unknown, KindMapping, unknown]>([
    ["a list, by the default mapping", [connect("a"), connect("b")], accounts, whole],
    ["a list of one, by the default mapping", [connect("a")], accounts, whole],
    ["an empty list", [], first, "type: the payload names no event; see mapping.type"],
    ["the second of two", [connect("a"), connect("b")], first, cut("accountId")],
    [
      "two of different types",
      [connect("a"), { ...connect("b"), action: "delete_account" }],
      first,
      cut("type"),
    ],
    [
      "one behind equal ones",
      [...Array.from({ length: 40 }, () => connect("a")), connect("b")],
      first,
      cut("accountId"),
    ],
    ["the middle of three", [connect("a"), connect("b"), connect("a")], first, cut("accountId")],
    ["the last", [connect("a"), connect("b")], { ...first, accountId: "[-1].account_id" }, cut("accountId")],
    ["inside an object", { events: [connect("a"), connect("b")] }, inside, cut("accountId")],
    ["with an empty first element", [{}, connect("b")], first, cut("type")],
    ["a list of one that is read with [0]", [connect("a")], first, connected("a")],
    ["equal elements", [connect("a"), connect("a")], first, connected("a")],
    [
      "an element that is chosen by its content",
      {
        ...connect("a"),
        ids: [
          { of: "x", id: "1" },
          { of: "us", id: "2" },
        ],
      },
      { ...accounts, accountId: "ids[?of == 'us'].id | [0]" },
      connected("2"),
    ],
    ["a list that is not used", { ...connect("a"), tags: ["x", "y"] }, accounts, connected("a")],
    [
      "a field that names nobody",
      { ...connect("a"), states: [{ on: false }, { on: true }] },
      { ...accounts, connected: "states[-1].on" },
      { ...connected("a"), connected: true },
    ],
  ])("is refused, never cut: %s", (_, body, mapping, expected) => {
    expect(eventsIn(body, mapping).map(said)).toEqual([expected]);
  });
});
