import { FailureError, permanent, refusedCall, retryable } from "../../domain/core/failures.ts";
import { isPrivateHost } from "../../domain/core/private-addresses.ts";
import { longestCallInSeconds, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { requestSender } from "./http-request.ts";
import { privateAddressReason, publicLookup, type ResolveAll } from "./public-lookup.ts";
import { discard, readText } from "./response-body.ts";

/** The provider's answer to a call that was allowed: `text` is the body, byte for byte as UTF-8. */
export type ApiAnswer = { readonly found: true; readonly text: string } | { readonly found: false };

/** One call. `path` stands under the provider's base address. */
export type ApiCall = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Leads on from the path: an address or a path, as an answer gave it. Never followed to another origin. */
  readonly link?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Milliseconds that the caller has left: the call ends within them, and within its own time-outs. */
  readonly timeLeft?: () => number;
};

export type ApiLimits = Pick<ProviderSettings, "timeouts" | "maxResponseBytes" | "allowPrivateAddresses">;

/**
 * Makes a call with a token. It ends within the sum of its three time-outs, however slowly an answer drips.
 * @returns the answer; `found: false` for 404 and 410
 * @throws `Unauthorized` for 401; retryable failures for 403, 408, 425, 429, 5xx and the network, with the delay that
 * the provider asks for; permanent ones for other statuses (redirects are never followed), for answers that are too
 * large, and for a provider at a private address, unless that is allowed
 */
export type CallWithToken = (token: string, call: ApiCall) => Promise<ApiAnswer>;

/** The provider refused the token. */
export class Unauthorized extends Error {
  override name = "Unauthorized";
}

/** @param resolve gives all addresses of the provider's name */
export function providerApi(
  baseUrl: string,
  limits: ApiLimits,
  now: () => Date,
  resolve?: ResolveAll,
): CallWithToken {
  const { timeouts, maxResponseBytes, allowPrivateAddresses } = limits;
  const send = requestSender(
    new URL(baseUrl).protocol,
    { connect: timeouts.connectSeconds * 1000, headers: timeouts.headersSeconds * 1000 },
    allowPrivateAddresses ? undefined : publicLookup(resolve),
  );
  const bodyLimits = { maxBytes: maxResponseBytes, silenceInMillis: timeouts.bodySeconds * 1000 };
  const longest = longestCallInSeconds(limits) * 1000;
  // An address in place of a name is never looked up.
  const isRefused = !allowPrivateAddresses && isPrivateHost(new URL(baseUrl).hostname);
  return async (token, { method, path, link, body, timeLeft }) => {
    if (isRefused) throw permanent(privateAddressReason);
    const url = urlOf(baseUrl, path, link);
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(longest, timeLeft?.() ?? longest))));
    const response = await send(url, {
      method,
      headers: headersFor(token, body),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    }).catch((error: unknown) => {
      throw failureOfCall("the provider could not be reached", error, signal);
    });
    const { statusCode = 0, headers } = response;
    if (statusCode >= 200 && statusCode < 300) {
      const text = await readText(response, bodyLimits).catch((error: unknown) => {
        throw failureOfCall("the provider's answer broke off", error, signal);
      });
      return { found: true, text };
    }
    // Any other status speaks for itself, whatever page comes with it.
    await discard(response);
    if (statusCode < 400) throw redirected(statusCode, headers.location, baseUrl);
    return failureOfStatus(statusCode, headers["retry-after"], now());
  };
}

/** @throws permanent failure where a link leads away from the provider: the token must not */
function urlOf(baseUrl: string, path: string, link: string | undefined): URL {
  const base = new URL(`${baseUrl.replace(/\/$/, "")}${path}`);
  if (link === undefined) return base;
  const url = URL.canParse(link, base.href) ? new URL(link, base) : undefined;
  if (url?.origin !== base.origin) {
    throw permanent("an answer's link leads to another origin; see provider.baseUrls and provider.paging");
  }
  return url;
}

function headersFor(token: string, body: unknown): Readonly<Record<string, string>> {
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  return body === undefined ? headers : { ...headers, "content-type": "application/json" };
}

function failureOfCall(what: string, error: unknown, signal: AbortSignal): FailureError {
  if (error instanceof FailureError) return error;
  return retryable(`${what}: ${signal.aborted ? "it took too long" : codeOf(error)}`);
}

/** Reports the host alone: the rest of an address can be a secret. */
function redirected(status: number, location: string | undefined, baseUrl: string): FailureError {
  const target =
    location !== undefined && URL.canParse(location, baseUrl) ? new URL(location, baseUrl) : null;
  const host = target === null ? "nowhere" : target.hostname;
  return permanent(
    `the provider answered ${status} and leads to ${host}: redirects are not followed; see provider.baseUrls`,
    status,
  );
}

function failureOfStatus(status: number, retryAfter: string | undefined, now: Date): ApiAnswer {
  if (status === 401) throw new Unauthorized();
  if (status === 404 || status === 410) return { found: false };
  const pause = secondsUntil(retryAfter, now);
  if (status === 403 && pause === 0) throw refusedCall("the provider answered 403");
  if (status === 403 || status === 408 || status === 425 || status === 429 || status >= 500) {
    throw retryable(`the provider answered ${status}`, pause);
  }
  throw permanent(`the provider answered ${status}`, status);
}

/** `Retry-After` in seconds, from either of its forms (RFC 9110); 0 where there is none. */
function secondsUntil(retryAfter: string | undefined, now: Date): number {
  if (retryAfter === undefined) return 0;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - now.getTime()) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

/** What ended a call, for people, by the code that a log is searched for. */
const meanings: Readonly<Record<string, string>> = {
  CONNECT_TIMEOUT: "no connection in time",
  HEADERS_TIMEOUT: "no answer in time",
  BODY_TIMEOUT: "nothing more came in time",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "it hung up",
  ENOTFOUND: "its name is unknown",
};

function codeOf(error: unknown): string {
  const code =
    typeof error === "object" && error !== null && "code" in error
      ? String(error.code)
      : error instanceof Error
        ? error.name
        : "unknown";
  const meaning = meanings[code];
  return meaning === undefined ? code : `${meaning} (${code})`;
}
