import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber, parseJson } from "../../../packages/subscriber/json.ts";

describe("the reader's JSON", () => {
  it.each([
    "12345678901234567890",
    "-0.12345678901234567890",
    "9007199254740993",
    "1e400",
    "1.0000000000000000000001e-7",
  ])("keeps all digits of %s, which no double holds", (digits) => {
    const value = parseJson(`{"n":[${digits}]}`);
    expect(value).toEqual({ n: [new ExactNumber(digits)] });
    expect(String(Object(value).n[0])).toBe(digits);
    expect(Number(Object(value).n[0])).toBe(Number(digits));
  });

  it.each(["0", "-0", "1.50", "0.1", "1e3", "1E+2", "123456789012345", "1.7976931348623157e308"])(
    "reads %s as a number",
    (digits) => {
      expect(parseJson(digits)).toBe(JSON.parse(digits));
    },
  );

  it("keeps strings that look like numbers, including quotes, and names such as __proto__", () => {
    const text = String.raw`{"a":"12345678901234567890","b\"9007199254740993":"\\","__proto__":9007199254740993}`;
    const value = Object(parseJson(text));
    expect(value.a).toBe("12345678901234567890");
    expect(value['b"9007199254740993']).toBe("\\");
    expect(Object.entries(value).at(-1)).toEqual(["__proto__", new ExactNumber("9007199254740993")]);
  });

  it("reads a text of ten million characters beside a number of twenty digits", () => {
    const long = "x".repeat(10_000_000);
    expect(parseJson(`["${long}",12345678901234567890]`)).toEqual([
      long,
      new ExactNumber("12345678901234567890"),
    ]);
  });

  it("reads the same texts as JSON.parse, with the same result", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
    for (const text of ["", "01", "[1,]", "{'a':1}", "NaN"])
      expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
