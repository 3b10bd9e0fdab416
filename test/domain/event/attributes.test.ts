import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import {
  afterAnswer,
  afterReport,
  attributesIn,
  outcomeOfReport,
  parseStoredAttributes,
  type Report,
  type StoredAttributes,
} from "../../../domain/event/attributes.ts";
import type { KindMapping } from "../../../domain/event/mapping.ts";
import { defaultMapping } from "../../../lib/settings/default-mapping.ts";
import { userId } from "../samples.ts";
import { eventsIn } from "./mapped.ts";

const expressions = { loanId: "metadata.loan_id", agent: 'metadata."sales.agent" || metadata.agent.id' };
const users: KindMapping = { ...defaultMapping.users, attributes: expressions };
const update = { event: "update_user", user_id: userId };

/** The user attributes in a webhook, and those left out. */
function read(body: unknown, mapping = users) {
  const [event] = eventsIn(body, mapping, { kind: "users" });
  if (event === undefined || !("facts" in event)) throw new Error("no event");
  return [event.facts.attributes, event.leftOut ?? []];
}

const nothing = [undefined, []];

describe("a user's attributes in a webhook", () => {
  it.each([
    ["0.5", { metadata: { loan_id: "L-1", other: "kept out" } }, [{ loanId: "L-1" }, []]],
    [
      "0.4",
      { action: "update_user", data: { id: userId, metadata: { loan_id: "L-1" } } },
      [{ loanId: "L-1" }, []],
    ],
    ["metadata null", { metadata: null }, nothing],
    ["no metadata", {}, nothing],
    ["a list", { metadata: [{ loan_id: "L-1" }] }, nothing],
    ["a text", { metadata: "loan_id" }, nothing],
    ["an empty object", { metadata: {} }, [{}, []]],
    ["an object without them", { metadata: { other: 1 } }, [{}, []]],
    ["null in it", { metadata: { loan_id: null, agent: { id: "A" } } }, [{ agent: "A" }, []]],
    ["a key with dots", { metadata: { "sales.agent": "A" } }, [{ agent: "A" }, []]],
    [
      "a number of many digits",
      '{"event":"update_user","user_id":"u","metadata":{"loan_id":12345678901234567890}}',
      [{ loanId: "12345678901234567890" }, []],
    ],
    ["a boolean", { metadata: { loan_id: true } }, [{ loanId: "true" }, []]],
    ["an empty text", { metadata: { loan_id: "" } }, [{}, []]],
    ["an object as value", { metadata: { loan_id: { a: 1 } } }, [{}, ["loanId"]]],
    ["a list as value", { metadata: { loan_id: ["L-1"] } }, [{}, ["loanId"]]],
    ["256 bytes", { metadata: { loan_id: "é".repeat(128) } }, [{ loanId: "é".repeat(128) }, []]],
    [
      "257 bytes",
      { metadata: { loan_id: `${"é".repeat(128)}x`, agent: { id: "A" } } },
      [{ agent: "A" }, ["loanId"]],
    ],
    ["half a character", { metadata: { loan_id: "\ud800" } }, [{}, ["loanId"]]],
    ["two lines", { metadata: { loan_id: "a\nb" } }, [{}, ["loanId"]]],
    [
      "a megabyte beside it",
      { metadata: { loan_id: "L-1", note: "x".repeat(1_000_000) } },
      [{ loanId: "L-1" }, []],
    ],
    ["a megabyte", { metadata: { loan_id: "x".repeat(1_000_000) } }, [{}, ["loanId"]]],
    ["the name of a prototype", { metadata: { constructor: "x" } }, [{}, []]],
  ] as const)("%s", (_, body, expected) => {
    const ids = { ...users, ids: "any" } as const;
    expect(read(typeof body === "string" ? body : { ...update, ...body }, ids)).toEqual(expected);
  });

  it("takes up to 1,024 bytes of names and values, in the order of the settings", () => {
    const names = ["a", "b", "c", "d", "e"];
    const attributes = Object.fromEntries(names.map((name) => [name, `metadata.${name}`]));
    const metadata = Object.fromEntries(names.map((name) => [name, "x".repeat(255)]).with(4, ["e", "x"]));
    const [found, leftOut] = read({ ...update, metadata }, { ...users, attributes });
    expect([Object.keys(found ?? {}), leftOut]).toEqual([["a", "b", "c", "d"], ["e"]]);
  });

  it("leaves a field of the user itself as known while it is missing", () => {
    const attributes = { reference: "data.reference" };
    const body = (more: object) => ({ action: "update_user", data: { id: userId, ...more } });
    expect(read(body({ reference: "R" }), { ...users, attributes })).toEqual([{ reference: "R" }, []]);
    expect(read(body({}), { ...users, attributes })).toEqual(nothing);
  });

  it("omits attributes that cannot be evaluated, and the event is stored", () => {
    const attributes = { size: "length(metadata.list)", loanId: "metadata.loan_id" };
    expect(read({ ...update, metadata: { loan_id: "L-1" } }, { ...users, attributes })).toEqual([
      { loanId: "L-1" },
      ["size"],
    ]);
  });

  it("leaves attributes as known if the only one cannot be evaluated", () => {
    const attributes = { size: "length(metadata.list)" };
    expect(read(update, { ...users, attributes })).toEqual([undefined, ["size"]]);
  });

  it("reads none of a deleted user, and none without the setting", () => {
    const metadata = { loan_id: "L-1" };
    expect(read({ ...update, event: "delete_user", metadata })).toEqual(nothing);
    expect(read({ ...update, metadata }, defaultMapping.users)).toEqual(nothing);
  });

  it("are read in the provider's answer by the same expressions", () => {
    const answers = [
      { id: userId, metadata: { loan_id: 7 } },
      { data: { id: userId, metadata: { loan_id: 7 } } },
    ];
    for (const answer of answers)
      expect(attributesIn(expressions, answer, userId, jmespathSearch).attributes).toEqual({ loanId: "7" });
    expect(attributesIn(expressions, { id: userId }, userId, jmespathSearch).attributes).toBeUndefined();
    expect(attributesIn(expressions, [], userId, jmespathSearch).attributes).toBeUndefined();
  });
});

describe("stored attributes", () => {
  const [one, two] = ["2026-03-01T12:00:01.000Z", "2026-03-01T12:00:02.000Z"];
  const values = { loanId: "L-1" };
  const stored: StoredAttributes = { values, version: 2, since: 5 };
  const report = { type: "user.updated", values: { loanId: "L-2" }, since: 7 } as const;
  const reported: StoredAttributes = { values: report.values, version: 9, since: 7 };

  it("are read as they were written, and refused by the invalid field", () => {
    for (const each of [stored, { ...stored, values: {}, time: one, isCreation: true }])
      expect(parseStoredAttributes(JSON.parse(JSON.stringify(each)))).toEqual(each);
    for (const [field, value] of Object.entries({
      "attributes.values": { a: 1 },
      version: "2",
      since: null,
    })) {
      const name = field.replace("attributes.", "");
      expect(() => parseStoredAttributes({ ...stored, [name]: value })).toThrow(`${field}: expected`);
    }
    expect(() => parseStoredAttributes([])).toThrow("attributes: expected an object");
  });

  it.each<[string, StoredAttributes | undefined, object, StoredAttributes]>([
    ["begin at the answer", undefined, values, { values, version: 9, since: 1_000 }],
    ["keep their version if they are unchanged", { ...stored, time: one, isCreation: true }, values, stored],
    ["have the answer's version if they are changed", stored, {}, { values: {}, version: 9, since: 5 }],
    [
      "count another name as a change",
      stored,
      { toString: "L-1" },
      { ...stored, values: { toString: "L-1" }, version: 9 },
    ],
  ])("%s of the provider", (_, known, answered, expected) => {
    expect(afterAnswer(known, { ...answered }, 9, new Date(1_000))).toEqual(expected);
  });

  it.each<[string, StoredAttributes | undefined, Partial<Report>, StoredAttributes]>([
    ["the first: applied", undefined, { time: one }, { ...reported, time: one }],
    ["a newer one: applied", { ...stored, time: one }, { time: two }, { ...reported, time: two }],
    ["an older one: stale", { ...stored, time: two }, { time: one }, { ...stored, time: two }],
    [
      "a newer one that was sent earlier: applied",
      { ...stored, time: one },
      { time: two, since: 1 },
      { ...reported, since: 5, time: two },
    ],
    ["one without a time: unconfirmed", { ...stored, time: one }, {}, reported],
    ["one with a time, after one without: unconfirmed", stored, { time: one }, reported],
    ["one without a time, sent earlier: unconfirmed", stored, { since: 3 }, stored],
    [
      "one of the same time: unconfirmed",
      { ...stored, time: one },
      { time: one },
      { ...reported, time: one },
    ],
    ["one that says the same: agreed", stored, { values }, { ...stored, since: 7 }],
    ["the creation, after an update: stale", stored, { type: "user.created", time: two }, stored],
    [
      "an update, after the creation: applied",
      { ...stored, isCreation: true, time: two },
      { time: one },
      { ...reported, time: one },
    ],
    [
      "the creation, at first: applied",
      undefined,
      { type: "user.created" },
      { ...reported, isCreation: true },
    ],
  ])("are those of a report, or stay: %s", (name, known, more, expected) => {
    const [, outcome] = name.split(": ");
    expect(outcomeOfReport(known, { ...report, ...more }, true)).toBe(outcome);
    expect(afterReport(known, { ...report, ...more }, 9)).toEqual(expected);
  });

  it("are those of the report sent last, if no time tells and the provider can't be asked", () => {
    expect(outcomeOfReport(stored, report, false)).toBe("applied");
    expect(outcomeOfReport(stored, { ...report, since: 5 }, false)).toBe("stale");
  });
});
