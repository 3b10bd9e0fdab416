import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mask } from "../../../domain/core/mask.ts";
import { decodeText, mediaTypeOf } from "../../../domain/event/json.ts";
import { isNameOrDate } from "../../../domain/event/mapping.ts";
import { anyCharacter } from "../../support/any-character.ts";

type Json = null | string | number | boolean | readonly Json[] | { readonly [name: string]: Json };

const json = fc
  .jsonValue({ stringUnit: anyCharacter, maxDepth: 5 })
  .map((value): Json => JSON.parse(JSON.stringify(value)));

/** The same structure with different strings, numbers and booleans; null stays. */
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
  it("reveals nothing: values that differ only in their leaves are masked alike", () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1 }), (value, seed) => {
        expect(mask(withOtherLeaves(value, seed))).toEqual(mask(value));
      }),
    );
  });

  it("stops at a depth of 100, so it cannot exhaust the stack", () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) value = depth % 2 === 0 ? [value] : { a: value };
    expect(JSON.stringify(mask(value))).toMatch(/"\(nested too deeply\)"/);
  });

  it("is complete to a depth of 100", () => {
    const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}1${"]".repeat(depth)}`);
    expect(JSON.stringify(mask(nested(100)))).toContain('"(number)"');
    expect(JSON.stringify(mask(nested(101)))).not.toContain('"(number)"');
  });

  it("shows nothing of members that hold what an operator keeps about a person", () => {
    const closed = new Set(["metadata"]);
    const value = { metadata: { event: "ping", id: "u1" }, event: "ping", id: "u1" };
    expect(
      mask({ data: value }, { shown: new Set(["u1"]), isOpen: (name) => name === "event", closed }),
    ).toEqual({
      data: { ...value, metadata: { event: "(text)", id: "(text)" } },
    });
  });

  it("keeps structure, names and types", () => {
    expect(mask({ a: ["x", 1.5, true, null, {}], b: { c: "" }, d: [] })).toEqual({
      a: ["(text)", "(number)", "(boolean)", null, {}],
      b: { c: "(text)" },
      d: [],
    });
    expect([mask(1n), mask(undefined)]).toEqual(["(number)", null]);
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

describe("a content type", () => {
  it.each<[string | undefined, ReturnType<typeof mediaTypeOf>]>([
    ["application/json", { essence: "application/json" }],
    ["Application/JSON; Charset=UTF-8", { essence: "application/json", charset: "utf-8" }],
    ['text/plain;format=flowed; charset="ISO-8859-1"', { essence: "text/plain", charset: "iso-8859-1" }],
    ["application/json;charset='utf-16'", { essence: "application/json", charset: "utf-16" }],
    ["application/json; charset=", { essence: "application/json" }],
    [
      "application/vnd.api+json ; charset = utf-8 ",
      { essence: "application/vnd.api+json", charset: "utf-8" },
    ],
    ["application/json;", { essence: "application/json" }],
    ["json", undefined],
    ["", undefined],
    [`application/${"x".repeat(100)}`, undefined],
    [undefined, undefined],
  ])("%s is read", (value, type) => {
    expect(mediaTypeOf(value)).toEqual(type);
  });
});

describe("bytes", () => {
  const text = '{"name":"José €"}';
  const utf16be = Buffer.from(text, "utf16le").swap16();

  it.each<[string, Uint8Array, string | undefined, string | undefined]>([
    ["UTF-8", Buffer.from(text), undefined, text],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${text}`), undefined, text],
    ["UTF-8 with a mark, claimed", Buffer.from(`\uFEFF${text}`), "utf-8", text],
    ["UTF-8 by another name", Buffer.from(text), "utf8", text],
    ["ISO-8859-1", Buffer.from("Jos\xe9", "latin1"), "iso-8859-1", "José"],
    ["windows-1252", Buffer.from([0x80, 0x92, 0xe9]), "windows-1252", "€’é"],
    ["UTF-16LE", Buffer.from(text, "utf16le"), "utf-16le", text],
    ["UTF-16LE with a mark", Buffer.from(`\uFEFF${text}`, "utf16le"), undefined, text],
    ["UTF-16BE", utf16be, "utf-16be", text],
    ["UTF-16BE with a mark", Buffer.from(`\uFEFF${text}`, "utf16le").swap16(), undefined, text],
    ["UTF-16, of which the first byte tells the order", utf16be, "utf-16", text],
    ["UTF-16 without a mark", Buffer.from(text, "utf16le"), "utf-16", text],
    ["UTF-16 with a mark", Buffer.from(`\uFEFF${text}`, "utf16le").swap16(), "utf-16", text],
    ["ASCII", Buffer.from("abc"), "us-ascii", "abc"],
    ["nothing", new Uint8Array(), "utf-16", ""],
    ["ISO-8859-1 without saying so", Buffer.from("Jos\xe9", "latin1"), undefined, undefined],
    ["ISO-8859-1 claimed as UTF-8", Buffer.from("Jos\xe9", "latin1"), "utf-8", undefined],
    ["more than ASCII", Buffer.from(text), "us-ascii", undefined],
    ["UTF-16 that is cut", Buffer.from(text, "utf16le").subarray(1), "utf-16le", undefined],
    ["a lone surrogate", Buffer.from([0x00, 0xd8]), "utf-16le", undefined],
    ["UTF-16 claimed as UTF-8", Buffer.from(`\uFEFF${text}`, "utf16le"), "utf-8", undefined],
    ["UTF-8 claimed as what nobody knows", Buffer.from(text), "klingon", text],
    ["UTF-8 by a name of databases", Buffer.from(text), "utf8mb4", text],
    ["UTF-16LE claimed as what nobody knows", Buffer.from(text, "utf16le"), "utf_16", text],
    ["ISO-8859-1 claimed as what nobody knows", Buffer.from("Jos\xe9", "latin1"), "latin_1", undefined],
    ["a charset that is not supported", Buffer.from("7b0000007d000000ff", "hex"), "utf-32", undefined],
  ])("in %s are decoded, or refused", (_, bytes, charset, decoded) => {
    expect(decodeText(bytes, charset)).toBe(decoded);
  });
});
