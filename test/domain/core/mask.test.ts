import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mask } from "../../../domain/core/mask.ts";

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

function leavesOf(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [value];
  return Object.values(value).flatMap(leavesOf);
}

describe("a masked value", () => {
  it("reports nothing of what it masks: values that differ in their leaves alone are masked the same", () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1 }), (value, seed) => {
        expect(mask(withOtherLeaves(value, seed))).toEqual(mask(value));
      }),
    );
  });

  it("has none of the leaves, but null", () => {
    const words = new Set(["(text)", "(number)", "(boolean)", null]);
    fc.assert(
      fc.property(json, (value) => {
        for (const leaf of leavesOf(mask(value))) expect(words).toContain(leaf);
      }),
    );
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
    expect(mask({ user_id: "u1", note: "of u1" }, shown)).toEqual({ user_id: "u1", note: "(text)" });
  });
});
