import { isJwt, readClaims, readTokenLifetime } from "../../../adapters/secrets/token-claims.ts";
import { parseTokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { compareAge, isRefreshDue, isShortLived } from "../../../domain/fetch/token-lifetime.ts";
import { succeeds } from "../../../domain/fetch/token-succession.ts";
import { must, type Target } from "../target.ts";
import { failsAsSaid } from "./failing.ts";

const now = new Date("2026-11-21T12:00:00Z");
const settings = { marginFraction: 0.5, refreshEveryMinutes: 15 };
const other = { issuedAt: 1_790_000_000, expiresAt: 1_800_000_000 };

function check(input: Uint8Array): void {
  const text = Buffer.from(input).toString("utf8");
  const claims = readClaims(text);
  must(isJwt(text) === (claims !== undefined), "a text is a JWT and has no claims, or has some and is none");
  const lifetime = readTokenLifetime(text);
  for (const time of [lifetime.issuedAt, lifetime.expiresAt])
    must(time === undefined || Number.isFinite(time), "a time is no number");
  must(
    lifetime.expiresAt !== undefined || isRefreshDue(lifetime, now, settings),
    "without an end it is kept",
  );
  isShortLived(lifetime, settings);
  must(!Number.isNaN(compareAge(lifetime, other)), "an age is no number");
  const current = { versionId: "1", token: "current" };
  succeeds({ token: text, replaces: "1" }, current, (token) => (token === text ? lifetime : other));
  failsAsSaid(() => parseTokenSecret(text, "1"));
}

const jwt = (claims: object) =>
  ["{}", JSON.stringify(claims)].map((part) => Buffer.from(part).toString("base64url")).join(".");

export const target: Target = {
  promise: "a token's claims are read, or it is known to be none; times are numbers",
  seeds: [
    `${jwt({ iat: 1_790_000_000, exp: 1_800_000_000 })}.c2ln`,
    `${jwt({ iat: "soon", exp: 1e308 })}.`,
    '{"token":"a.b.c","replaces":"1"}',
    "no token",
  ],
  words: ["eyJ", "null", "1e999", "replaces"],
  check,
};
