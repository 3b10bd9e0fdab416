import { describe, expect, it } from "vitest";
import { jmespathSearch } from "../../../adapters/aws/jmespath-search.ts";
import { attributesIn } from "../../../domain/event/attributes.ts";
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
