import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText, sourceAt } from "../../../domain/event/json.ts";
import { anyCharacter } from "../../support/any-character.ts";

function cut(text: string, path: string): string | undefined {
  const span = sourceAt(text, path);
  return span && text.slice(span.start, span.end);
}

describe("the source of a value", () => {
  it.each([
    ['{"next":12345678901234567890.10}', "next", "12345678901234567890.10"],
    [' { "a" : { "next" : null , "b":1} } ', "a.next", "null"],
    ['{"data": [ {"data":[1]}, "]", "\\"]" ] }', "data", '[ {"data":[1]}, "]", "\\"]" ]'],
    ['{"a\\u0062":true}', "ab", "true"],
    ['{"x":"next","next":"a\\\\"}', "next", '"a\\\\"'],
    ['{"next":1,"next":2}', "next", "2"],
    ['{"":1,"next":-1e5}', "next", "-1e5"],
    ["\n[1, 2]\n", "", "[1, 2]"],
    ["7", "", "7"],
  ])("of %s at %j is %s", (text, path, source) => {
    expect(cut(text, path)).toBe(source);
  });

  it.each([
    ['{"data":[{"next":1}]}', "next"],
    ['{"data":[{"next":1}]}', "data.next"],
    ['{"data":"next"}', "next"],
    ["{}", "next"],
    ["[1]", "next"],
    ["null", "a.b"],
  ])("of %s at %j is nowhere", (text, path) => {
    expect(cut(text, path)).toBeUndefined();
  });

  it("equals the result of JSON.parse, whatever the JSON contains and however it is spaced", () => {
    // No name ends in a backslash: after JSON.parse('{"a":1,"\\\\":2}') V8 13.6 (Node 24) reads
    // '{"a":1,"\\"":2}' with the backslash as a name too, and cannot serve as an oracle.
    const name = fc.constantFrom("a", "b", "data", '"', "\\n", '\\"', "");
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom(null, true, "", '"', "\\", '\\"', "[", "}", ",", 1.5),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(name, tie("any"), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(value, value, value, fc.constantFrom(undefined, 2, "\t"), (data, before, after, space) => {
        const text = JSON.stringify({ before, a: { data, after } }, null, space);
        expect(JSON.parse(cut(text, "a.data") ?? "")).toEqual(JSON.parse(JSON.stringify(data)));
        expect(JSON.parse(cut(text, "before") ?? "")).toEqual(JSON.parse(JSON.stringify(before)));
      }),
      { numRuns: 500 },
    );
  });

  it("is found in a text of 20 MB with one long string", () => {
    expect(cut(JSON.stringify({ picture: 'x"\\'.repeat(5_000_000), next: "there" }), "next")).toBe('"there"');
  });
});

describe("JSON for queues", () => {
  it("is read back as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const text: unknown = JSON.parse(jsonText(value));
        expect(text).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });

  it("holds no character beyond U+FFFF, and escapes no other", () => {
    expect(jsonText({ "😀": "a😀\u{10FFFF}é" })).toBe(
      String.raw`{"\ud83d\ude00":"a\ud83d\ude00\udbff\udfff`.concat('é"}'),
    );
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(/[\u{10000}-\u{10FFFF}]/u.test(jsonText(text))).toBe(false);
        const inBasicPlane = text.replaceAll(/[\u{10000}-\u{10FFFF}]/gu, "");
        expect(jsonText(inBasicPlane)).toBe(JSON.stringify(inBasicPlane));
      }),
    );
  });
});
