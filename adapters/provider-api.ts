import { Agent, request } from "undici";
import { permanent, retryable } from "../domain/failures.ts";
import type { ProviderSettings } from "../domain/provider-settings.ts";
import type { Permit } from "./call-window.ts";

/** The provider's answer to a call that was allowed: `text` is the body, byte for byte as UTF-8. */
export type ApiAnswer = { readonly found: true; readonly text: string } | { readonly found: false };

/** One call. `path` stands under the provider's base address. */
export type ApiCall = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
};

export type ApiLimits = Pick<ProviderSettings, "timeouts" | "maxResponseBytes">;

/**
 * Makes a call with a token.
 * @returns the answer; `found: false` for 404 and 410
 * @throws `Unauthorized` for 401; retryable failures for 408, 425, 429, 5xx and the network, with the delay that
 * the provider asks for; permanent ones for other statuses: redirects are never followed
 */
export type CallWithToken = (token: string, call: ApiCall) => Promise<ApiAnswer>;

/** The provider refused the token. */
export class Unauthorized extends Error {
  override name = "Unauthorized";
}

export function providerApi(
  baseUrl: string,
  { timeouts, maxResponseBytes }: ApiLimits,
  now: () => Date,
): CallWithToken {
  const dispatcher = new Agent({
    connect: { timeout: timeouts.connectSeconds * 1000 },
    headersTimeout: timeouts.headersSeconds * 1000,
    bodyTimeout: timeouts.bodySeconds * 1000,
  });
  return async (token, { method, path, body }) => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const response = await request(`${baseUrl.replace(/\/$/, "")}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher,
    }).catch((error: unknown) => {
      throw retryable(`the provider could not be reached: ${codeOf(error)}`);
    });
    const { statusCode, headers: answered, body: content } = response;
    if (statusCode >= 200 && statusCode < 300) {
      return { found: true, text: await readText(content, maxResponseBytes) };
    }
    // Any other status speaks for itself, whatever page comes with it, and however large that is.
    await content.dump();
    return judgeStatus(statusCode, headerOf(answered["retry-after"]), now());
  };
}

/** Asks for a permit before each call, a repeated one included. */
export function paced(call: CallWithToken, permit: Permit): CallWithToken {
  return async (token, apiCall) => {
    await permit();
    return call(token, apiCall);
  };
}

async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        throw permanent(`the answer is over ${maxBytes} bytes; see provider.maxResponseBytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Error && error.name === "PermanentFailure") throw error;
    throw retryable(`the provider's answer broke off: ${codeOf(error)}`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function judgeStatus(status: number, retryAfter: string | undefined, now: Date): ApiAnswer {
  if (status === 401) throw new Unauthorized();
  if (status === 404 || status === 410) return { found: false };
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    throw retryable(`the provider answered ${status}`, secondsUntil(retryAfter, now));
  }
  throw permanent(`the provider answered ${status}`);
}

/** `Retry-After` in seconds, from either of its forms (RFC 9110); 0 where there is none. */
function secondsUntil(retryAfter: string | undefined, now: Date): number {
  if (retryAfter === undefined) return 0;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : Math.ceil((Date.parse(retryAfter) - now.getTime()) / 1000);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function codeOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "code" in error) return String(error.code);
  return error instanceof Error ? error.name : "unknown";
}
