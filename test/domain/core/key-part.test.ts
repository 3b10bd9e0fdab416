import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyPart } from "../../../domain/core/key-part.ts";
import { hostileText } from "../samples.ts";

describe("a part of a key", () => {
  it.each([
    ["0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ["a/b#c%2Fd", "a%2Fb%23c%252Fd"],
    ["zoë@example.com", "zoë@example.com"],
    [".", "%2E"],
    ["..", "%2E%2E"],
    ["a..b", "a..b"],
  ])("percent-encodes what joins parts, and nothing else: %s", (text, part) => {
    expect(keyPart(text)).toBe(part);
  });

  it("gives its text back when it is decoded, so that different texts have different parts", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(decodeURIComponent(keyPart(text))).toBe(text);
      }),
    );
  });

  it("holds nothing that joins parts, and is no step up in a path", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(keyPart(text)).not.toMatch(/[/#]|^\.{1,2}$/);
      }),
    );
  });

  it("is at most three times as long, so that the longest id fits a key of 1,024 bytes", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(Buffer.byteLength(keyPart(text))).toBeLessThanOrEqual(3 * text.length);
      }),
    );
  });
});
