import { describe, expect, it } from "vitest";
import { decodeText, mediaTypeOf } from "../../../domain/core/text-encoding.ts";

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
    ["a charset that nobody knows", Buffer.from(text), "klingon", undefined],
    ["a charset that is not supported", Buffer.from(text), "utf-32", undefined],
  ])("in %s are decoded, or refused", (_, bytes, charset, decoded) => {
    expect(decodeText(bytes, charset)).toBe(decoded);
  });
});
