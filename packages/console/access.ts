import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export type Access = ReturnType<typeof createAccess>;

/**
 * Admits whoever opens an address that the console printed. Tokens are sent as `Authorization: Bearer`, not
 * in a cookie, because a browser sends cookies to every port of a host.
 */
export function createAccess() {
  const session = secret();
  let token = secret();
  return {
    /** The token of the next address, valid for one exchange. */
    oneTimeToken: () => token,
    /** @returns the session's token; undefined if the one-time token is wrong or used */
    exchange: (headers: IncomingHttpHeaders) => {
      if (!isBearer(headers, token)) return undefined;
      token = secret();
      return session;
    },
    isAdmitted: (headers: IncomingHttpHeaders) => isBearer(headers, session),
  };
}

function isBearer({ authorization = "" }: IncomingHttpHeaders, token: string): boolean {
  const [given, wanted] = [Buffer.from(authorization), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * The reason to refuse a request; undefined to admit it. DNS rebinding shows in a foreign Host, and a request
 * from another site in its Origin.
 */
export function refusalOf(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  port: number,
): string | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  const { host = "", origin, "sec-fetch-site": site } = headers;
  if (!hosts.includes(host)) return "The console answers at 127.0.0.1 only.";
  if (method === "GET" || method === "HEAD") return undefined;
  const isOwn = origin !== undefined && hosts.some((each) => origin === `http://${each}`);
  if (!isOwn || (site !== undefined && site !== "same-origin"))
    return "Only the console's own page changes anything.";
  if (!(headers["content-type"] ?? "").startsWith("application/json")) return "A change is sent as JSON.";
  return undefined;
}

/** Headers of every answer: no external content, no caching, no framing. */
export const securityHeaders = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

function secret(): string {
  return randomBytes(32).toString("base64url");
}
