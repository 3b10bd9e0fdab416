import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Who may use a console: whoever opens an address that it has printed. */
export type Access = {
  /** The token of the next address; it is good for one exchange. */
  readonly oneTimeToken: () => string;
  /** Takes a token. @returns the cookie that stands for it from now on; undefined where it is none, or was used */
  readonly exchange: (token: string) => string | undefined;
  readonly isAdmitted: (headers: IncomingHttpHeaders) => boolean;
};

/** @param port cookies are shared by all ports of a host: the name keeps two consoles apart */
export function createAccess(port: number): Access {
  const cookie = `income-events-console-${port}`;
  const session = secret();
  let token = secret();
  return {
    oneTimeToken: () => token,
    exchange: (given) => {
      if (!isSame(given, token)) return undefined;
      token = secret();
      return `${cookie}=${session}; HttpOnly; SameSite=Strict; Path=/`;
    },
    isAdmitted: ({ cookie: header = "" }) =>
      header.split(/; */).some((pair) => {
        const [name, value = ""] = pair.split("=");
        return name === cookie && isSame(value, session);
      }),
  };
}

/**
 * Why a request is refused before it is looked at; undefined where it may go on. A page of another name that leads to
 * this machine (DNS rebinding) comes with its own Host, and one of another site says so itself.
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

/** Of every answer: nothing is loaded from elsewhere, nothing is kept, nobody frames it. */
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

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
