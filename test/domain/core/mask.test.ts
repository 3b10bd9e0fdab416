import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNameOrDate, mask } from "../../../domain/core/mask.ts";

type Json = null | string | number | boolean | readonly Json[] | { readonly [name: string]: Json };

const json = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 5 })
  .map((value): Json => JSON.parse(JSON.stringify(value)));

/** The same structure with other values: texts, numbers and booleans are replaced, null stays. */
function withOtherLeaves(value: Json, seed: number): Json {
  if (value === null) return null;
  if (isList(value)) return value.map((element) => withOtherLeaves(element, seed));
  if (typeof value === "string") return `${value}${seed}`;
  if (typeof value === "number") return value + seed;
  if (typeof value === "boolean") return !value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withOtherLeaves(member, seed)]),
  );
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

describe("a masked value", () => {
  it("reports nothing of what it masks: values that differ in their leaves alone are masked the same", () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1 }), (value, seed) => {
        expect(mask(withOtherLeaves(value, seed))).toEqual(mask(value));
      }),
    );
  });

  it("ends at a depth of 100, and so never the process", () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) value = depth % 2 === 0 ? [value] : { a: value };
    expect(JSON.stringify(mask(value))).toMatch(/"\(nested too deeply\)"/);
  });

  it("keeps structure, names and types", () => {
    expect(mask({ a: ["x", 1.5, true, null, {}], b: { c: "" }, d: [] })).toEqual({
      a: ["(text)", "(number)", "(boolean)", null, {}],
      b: { c: "(text)" },
      d: [],
    });
  });

  it("keeps the names of every object, __proto__ too", () => {
    expect(JSON.stringify(mask(JSON.parse('{"__proto__": {"name": "Ada"}}')))).toBe(
      '{"__proto__":{"name":"(text)"}}',
    );
  });

  it("shows texts that are to be shown, and these only as a whole", () => {
    const shown = new Set(["u1"]);
    expect(mask({ user_id: "u1", note: "of u1" }, { shown })).toEqual({ user_id: "u1", note: "(text)" });
  });

  it("shows names, states and dates of members that are open, and never ids, numbers or free text in them", () => {
    const open = ["event", "connected", "created_at"];
    const isOpen = (name: string, value: unknown) => open.includes(name) && isNameOrDate(value);
    const dates = [
      "2026-11-21",
      "2026-11-21 12:00:00",
      "2026-11-21 12:00:00.000 UTC",
      "2026-11-21T12:00:00.000Z",
    ];
    for (const created_at of dates) {
      const value = { event: "connect_account", connected: true, created_at, birth_date: "1815-12-10" };
      expect(mask({ data: value }, { isOpen })).toEqual({ data: { ...value, birth_date: "(text)" } });
    }
    for (const event of [
      "Ada Lovelace",
      "ada@example.com",
      "+49 170 1234567",
      "6f1c2b9e-5a0d-4c3e-8f7a-1b2c3d4e5f60",
      "",
    ]) {
      expect(mask({ event }, { isOpen })).toEqual({ event: "(text)" });
    }
    expect(mask({ event: 170_123 }, { isOpen })).toEqual({ event: "(number)" });
  });
});
