import { FailureError, permanent, retryable } from "../../domain/core/failures.ts";
import { isPrivateHost } from "../../domain/core/private-addresses.ts";
import {
  type AnswerOutcome,
  dataIn,
  type Expectation,
  type GivenData,
  outcomeOf,
  readsBody,
} from "../../domain/fetch/answer.ts";
import { longestCallInSeconds, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { acceptEncoding } from "../content-coding.ts";
import {
  discard,
  privateAddressReason,
  publicLookup,
  type ResolveAll,
  readBody,
  requestSender,
} from "./http.ts";

/** The provider's answer; `found: false` if it has no such resource. The data is empty if none was expected. */
export type ApiAnswer = ({ readonly found: true } & GivenData) | { readonly found: false };

/** One call. `path` is relative to the provider's base address. */
export type ApiCall = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** An address or path from an earlier answer, resolved against `path`. It must keep the provider's origin. */
  readonly link?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Absent: data. */
  readonly expects?: Expectation;
  /** Milliseconds that the caller has left. The call ends within them, and within its own timeouts. */
  readonly timeLeft?: () => number;
};

type ApiLimits = Pick<ProviderSettings, "timeouts" | "maxResponseBytes" | "allowPrivateAddresses" | "error">;

/** The provider refused the token. */
export class Unauthorized extends Error {
  override name = "Unauthorized";
}

/** The provider's HTTP API: makes calls and interprets the answers. */
export class ProviderApi {
  readonly #baseUrl: string;
  readonly #limits: ApiLimits;
  readonly #now: () => Date;
  readonly #send: ReturnType<typeof requestSender>;
  /** Checked here, because an IP address is never looked up. */
  readonly #isRefused: boolean;

  /** @param resolve resolves the provider's name to all its addresses */
  constructor(baseUrl: string, limits: ApiLimits, now: () => Date, resolve?: ResolveAll) {
    const { timeouts, allowPrivateAddresses } = limits;
    this.#baseUrl = baseUrl;
    this.#limits = limits;
    this.#now = now;
    this.#send = requestSender(
      new URL(baseUrl).protocol,
      { connect: timeouts.connectSeconds * 1000, headers: timeouts.headersSeconds * 1000 },
      allowPrivateAddresses ? undefined : publicLookup(resolve),
    );
    this.#isRefused = !allowPrivateAddresses && isPrivateHost(new URL(baseUrl).hostname);
  }

  /**
   * Makes a call with a token. It ends within the sum of its three timeouts, however slowly an answer arrives.
   * @returns the answer; `found: false` if the provider has no such resource
   * @throws `Unauthorized` if the provider refused the token; failures as `outcomeOf` decides; retryable failures of
   * the network; permanent failures for answers that are too large, and for a provider at a private address, unless
   * allowed
   */
  async send(token: string, call: ApiCall): Promise<ApiAnswer> {
    const { method, path, link, body, expects = "data", timeLeft } = call;
    const { timeouts, maxResponseBytes, error } = this.#limits;
    if (this.#isRefused) throw permanent(privateAddressReason);
    const url = urlOf(this.#baseUrl, path, link);
    const longest = longestCallInSeconds(this.#limits) * 1000;
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(longest, timeLeft?.() ?? longest))));
    const response = await this.#send(url, {
      method,
      headers: headersFor(token, body),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    }).catch((error: unknown) => {
      throw failureOfCall("the provider could not be reached", error, signal);
    });
    const { statusCode: status = 0, headers } = response;
    const answer = {
      status,
      contentType: headers["content-type"],
      retryAfter: headers["retry-after"],
      location: headers.location,
      body: nothing,
    };
    const rules = { expects, error, url: url.href, now: this.#now() };
    if (!readsBody(status, expects)) {
      await discard(response);
      return answerOf(outcomeOf(answer, rules));
    }
    const bodyLimits = { maxBytes: maxResponseBytes, silenceInMillis: timeouts.bodySeconds * 1000 };
    const read = await readBody(response, bodyLimits).catch((error: unknown) => {
      throw failureOfCall("the provider's answer broke off", error, signal);
    });
    return answerOf(outcomeOf({ ...answer, body: read }, rules));
  }
}

const nothing = new Uint8Array();

function answerOf(outcome: AnswerOutcome): ApiAnswer {
  switch (outcome.type) {
    case "data":
      return { found: true, bytes: outcome.bytes, contentType: outcome.contentType, text: outcome.text };
    case "accepted":
      return { found: true, ...dataIn("") };
    case "absent":
      return { found: false };
    case "unauthorized":
      throw new Unauthorized();
    case "failed":
      throw new FailureError(outcome.failure);
  }
}

/** @throws permanent failure if a link leads to another origin, which must not get the token */
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
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json",
    "accept-encoding": acceptEncoding,
  };
  return body === undefined ? headers : { ...headers, "content-type": "application/json" };
}

function failureOfCall(what: string, error: unknown, signal: AbortSignal): FailureError {
  if (error instanceof FailureError) return error;
  return retryable(`${what}: ${signal.aborted ? "it took too long" : codeOf(error)}`);
}

/** Readable texts for error codes. Log searches use the codes. */
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
