import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { identify } from "../../../domain/event/envelope.ts";
import { webhookKinds } from "../../../domain/event/events.ts";

const accountsVector = "Z8JLumkwOVF8w7_PmCSNIadeEcmXZajQC5zhRbjyaSw";

describe("the identity of an event", () => {
  it("is SHA-256 of the kind, a line end and the raw body, in base64url", () => {
    // printf 'accounts\n{"a":1}' | openssl dgst -sha256 -binary | basenc --base64url
    expect(identify("accounts", Buffer.from('{"a":1}'))).toBe(accountsVector);
  });

  it("is the same for the same bytes of the same kind, and has 43 characters that suit a key", () => {
    fc.assert(
      fc.property(fc.constantFrom(...webhookKinds), fc.uint8Array(), (kind, bytes) => {
        const id = identify(kind, bytes);
        expect(id).toMatch(/^[\w-]{43}$/);
        expect(identify(kind, Uint8Array.from(bytes))).toBe(id);
      }),
    );
  });

  it("differs for each kind", () => {
    expect(new Set(webhookKinds.map((kind) => identify(kind, Buffer.from("{}")))).size).toBe(
      webhookKinds.length,
    );
  });

  it("differs for any other bytes, be they the same JSON", () => {
    const bodies = ["{}", "{ }", "{}\n", "", "\u0000", "\uFFFD"].map((text) => Buffer.from(text));
    const all = [...bodies, Buffer.from([0xff]), Buffer.from([0xfe])];
    expect(new Set(all.map((body) => identify("users", body))).size).toBe(all.length);
  });

  it("includes the headers that the mapping reads, in any order", () => {
    const body = Buffer.from("{}");
    const id = (headers: Readonly<Record<string, string>>) => identify("accounts", body, headers);
    expect(id({})).toBe(identify("accounts", body));
    expect(id({ a: "1", b: "2" })).toBe(id({ b: "2", a: "1" }));
    const different = [
      {},
      { a: "1" },
      { a: "2" },
      { b: "1" },
      { a: "1", b: "" },
      { a: '1","b":"' },
      { a: "1\n{}" },
    ];
    expect(new Set(different.map(id)).size).toBe(different.length);
  });

  it("is SHA-256 of the kind, the sorted headers as JSON, a line end and the body, if there are headers", () => {
    const hash = createHash("sha256").update('accounts [["a","1"],["b","2"]]\n{"a":1}').digest("base64url");
    expect(identify("accounts", Buffer.from('{"a":1}'), { b: "2", a: "1" })).toBe(hash);
  });

  it("never mixes up headers and body", () => {
    const texts = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { minKeys: 1 });
    fc.assert(
      fc.property(texts, fc.string(), fc.string(), (headers, body, other) => {
        expect(identify("users", Buffer.from(body), headers)).not.toBe(identify("users", Buffer.from(other)));
      }),
    );
  });
});
