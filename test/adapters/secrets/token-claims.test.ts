import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJwt, readClaims, readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { anyCharacter } from "../../support/any-character.ts";

const jwt = (claims: string) => `e30.${Buffer.from(claims).toString("base64url")}.c2ln`;

describe("the claims of a token", () => {
  it("are those of its payload, with times only if they are numbers", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (iat, exp) => {
        const lifetime = readTokenLifetime(jwt(JSON.stringify({ iat, exp })));
        // JSON has no negative zero, but toEqual distinguishes it from zero.
        expect(lifetime).toEqual({
          ...(typeof iat === "number" ? { issuedAt: iat + 0 } : {}),
          ...(typeof exp === "number" ? { expiresAt: exp + 0 } : {}),
        });
      }),
    );
    expect(readTokenLifetime(jwt('{"iat":1e999,"exp":-1}'))).toEqual({ expiresAt: -1 });
  });

  it("are empty for any other text, without an error", () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(fc.base64String(), { maxLength: 4 }).map((parts) => parts.join(".")),
      fc.jsonValue().map((value) => jwt(JSON.stringify(value))),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const claims = readClaims(text);
        expect(isJwt(text)).toBe(claims !== undefined);
        const lifetime = readTokenLifetime(text);
        if (claims === undefined) expect(lifetime).toEqual({});
        expect(Object.values(lifetime).every(Number.isFinite)).toBe(true);
      }),
    );
  });
});
