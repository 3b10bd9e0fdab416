import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { type EventFilter, selects } from "../../../domain/event/event-progress.ts";
import type { IncomeEvent } from "../../../domain/event/events.ts";
import {
  countedName,
  countedNames,
  deliveryOf,
  ignoredName,
  type KindMapping,
} from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";

const ignoring = (...names: readonly string[]): KindMapping => ({
  ...defaultMapping.accounts,
  types: {
    connect_account: "account.connected",
    ...Object.fromEntries(names.map((name) => [name, "ignore"])),
  },
});

describe("an event that the settings ignore", () => {
  it.each<[string, unknown, string | undefined]>([
    ["a ping without a subject", { event: "ping" }, "ping"],
    [
      "a name with a slash",
      { event: "connector/status_updated", data: { id: 5 } },
      "connector/status_updated",
    ],
    ["one whose ids are none", { action: "ping", account_id: { no: "id" } }, "ping"],
    ["a name in another case", { event: "PING" }, undefined],
    ["a name that begins so", { event: "ping2" }, undefined],
    ["a name that every object has", { event: "toString" }, undefined],
    ["an event that is wanted", { event: "connect_account" }, undefined],
    ["no name", {}, undefined],
    ["a number", { event: 5 }, undefined],
  ])("is identified by its name alone: %s", (_, body, name) => {
    const mapping = ignoring("ping", "connector/status_updated", "5");
    expect(ignoredName(mapping, deliveryOf(body), jmespathSearch)).toBe(name);
  });

  it("can be identified by a header", () => {
    const mapping = { ...ignoring("ping"), type: { header: "ce-type" } };
    const delivery = deliveryOf(null, { "ce-type": "ping" });
    expect(ignoredName(mapping, delivery, jmespathSearch)).toBe("ping");
  });

  it("is counted by a bounded number of names, of which each can be a dimension", () => {
    expect(countedNames(ignoring())).toEqual([]);
    expect(countedNames(ignoring("ping", "a/b"))).toEqual(["ping", "a/b"]);
    const many = ignoring(...Array.from({ length: 130 }, (_, index) => `status_${index}`));
    expect(countedNames(many)).toHaveLength(11);
    expect(countedName(many, "status_3")).toBe("status_3");
    expect(countedName(many, "status_99")).toBe("other");
    const unusual = ignoring("größe", " ", "", "x".repeat(129), "ok");
    expect(countedNames(unusual)).toEqual(["ok", "other"]);
    expect(countedName(unusual, "größe")).toBe("other");
  });
});

const receivedAt = "2026-03-01T12:00:00.000Z";
const event: IncomeEvent = {
  ...{ id: "event", kind: "accounts", type: "account.connected" },
  ...{ receivedAt, accountId: "a", endpoint: "income" },
};

it.each<[EventFilter, boolean]>([
  [{}, true],
  [{ kind: "accounts", type: "account.connected" }, true],
  [{ kind: "users" }, false],
  [{ type: "account.*" }, true],
  [{ type: "account.created" }, false],
  [{ since: receivedAt }, true],
  [{ since: "2026-03-01T12:00:00.001Z" }, false],
  [{ until: "2026-03-01T12:00:00.001Z" }, true],
  [{ until: receivedAt }, false],
  [{ kind: "accounts", until: receivedAt }, false],
  [{ text: "en" }, true],
  [{ text: "ne" }, false],
  [{ endpoint: "income" }, true],
  [{ endpoint: "trips" }, false],
])("a filter %o selects: %s", (filter, selected) => {
  expect(selects(filter, event)).toBe(selected);
});
