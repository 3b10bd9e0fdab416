import crypto, { createHmac } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { authenticator, isSigned, valueOfKind } from "../../../domain/core/webhook-secret.ts";

const compare = vi.spyOn(crypto, "timingSafeEqual");
syncBuiltinESMExports();
afterAll(() => {
  compare.mockRestore();
  syncBuiltinESMExports();
});

const now = new Date("2026-11-21T12:00:00Z");
const previous = { value: "before", until: "2026-11-22T00:00:00Z" };
const body = Buffer.from("{}");
const signature = createHmac("sha512", "signing").update(body).digest("base64");

beforeEach(() => void compare.mockClear());

/** Checks of a secret, with the number of texts to compare. */
const checks = [
  ["the secret", (text: string) => authenticator({ current: "right" }, "users")(text, now), "right", 2],
  [
    "the kind's value",
    (text: string) => authenticator({ current: "right" }, "users")(text, now),
    valueOfKind("right", "users"),
    2,
  ],
  [
    "the secret before it",
    (text: string) => authenticator({ current: "new", previous }, "users")(text, now),
    "before",
    4,
  ],
  [
    "a signature",
    (text: string) => isSigned(body, text, { current: "", signing: "signing" }, new Date(0)),
    signature,
    1,
  ],
] as const;

it.each(checks)("%s: only a constant-time comparison decides", (_, check, right) => {
  compare.mockReturnValue(false);
  expect(check(right)).toBe(false);
  compare.mockReturnValue(true);
  expect(check("wrong")).toBe(true);
  compare.mockReset();
  expect([check(right), check("wrong")]).toEqual([true, false]);
});

it.each(checks)(
  "%s: digests of one length are compared, whatever was presented",
  (_, check, right, texts) => {
    for (const presented of ["", "x", right, `${right}x`, "x".repeat(100_000)]) {
      compare.mockClear();
      check(presented);
      // Compares each text even after a match: the time must not reveal their number.
      expect(compare).toHaveBeenCalledTimes(texts);
      for (const [left, other] of compare.mock.calls)
        expect([left.byteLength, other.byteLength]).toEqual([32, 32]);
    }
  },
);
