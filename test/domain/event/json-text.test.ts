import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText } from "../../../domain/event/json-text.ts";

describe("JSON for queues", () => {
  it("is read back as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
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
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(/[\u{10000}-\u{10FFFF}]/u.test(jsonText(text))).toBe(false);
        const inBasicPlane = text.replaceAll(/[\u{10000}-\u{10FFFF}]/gu, "");
        expect(jsonText(inBasicPlane)).toBe(JSON.stringify(inBasicPlane));
      }),
    );
  });
});
