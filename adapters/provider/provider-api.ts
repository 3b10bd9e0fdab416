import { type LookupAddress, lookup as resolveName } from "node:dns";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { isPrivateAddress, isPrivateHost } from "../../domain/core/addresses.ts";
import { FailureError, permanent, retryable } from "../../domain/core/failures.ts";
import { type ApiAnswer, type Expectation, readAnswer, readsBody } from "../../domain/fetch/answer.ts";
import { longestCallInSeconds, type ProviderSettings } from "../../domain/fetch/provider-settings.ts";
import { acceptEncoding, decoded } from "../aws/content.ts";

/**
 * Calls `end` after a time. Data that has already arrived counts as in time: a process that was frozen sees its
 * timers expire before it reads its connections.
 * @returns the running timeout: `refresh` restarts it, `clear` cancels it
 */
export function endAfter(milliseconds: number, end: () => void) {
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    lastLook = setImmediate(end);
  }, milliseconds);
  return {
    refresh: () => {
      clearImmediate(lastLook);
      timer.refresh();
    },
    clear: () => {
      clearImmediate(lastLook);
      clearTimeout(timer);
    },
  };
}

// Short, because connections of a frozen function environment close unnoticed.
const idleMillis = 10_000;

/**
 * Sends requests over keep-alive connections, HTTP/1.1 only. A request resolves with the start of the response, whose
 * body is still to be read. Redirects are not followed.
 * @param protocol of all addresses, `http:` or `https:`
 * @param timeouts in milliseconds
 * @param lookup resolves names and may reject them; absent: Node's own
 */
export function requestSender(
  protocol: string,
  timeouts: { readonly connect: number; readonly headers: number },
  lookup?: LookupFunction,
) {
  const isSecure = protocol === "https:";
  const options = { keepAlive: true, timeout: idleMillis, ...(lookup && { lookup }) };
  // Not imported: as an ES module, `node:http` loads all its exports, including Node's WebSocket client, which takes
  // longer than the rest of a cold start. In AWS it is not needed.
  const { Agent, request } = isSecure ? https : process.getBuiltinModule("node:http");
  const agent = new Agent(options);
  return (
    url: URL,
    {
      method,
      headers,
      body,
      signal,
    }: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly signal: AbortSignal;
    },
  ) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const call = request(url, { method, headers, signal, agent });
      const cutAfter = (millis: number, code: string) => endAfter(millis, () => call.destroy(timedOut(code)));
      let deadline = cutAfter(timeouts.connect, "CONNECT_TIMEOUT");
      const connected = () => {
        deadline.clear();
        deadline = cutAfter(timeouts.headers, "HEADERS_TIMEOUT");
      };
      call.once("socket", (socket) => {
        if (call.reusedSocket) connected();
        else socket.once(isSecure ? "secureConnect" : "connect", connected);
      });
      call.once("response", (response) => {
        deadline.clear();
        resolve(response);
      });
      const fail = (error: Error) => {
        deadline.clear();
        reject(error);
      };
      // Not `once`: an error after the start of the response belongs to the body and must not crash the process.
      call.on("error", fail);
      call.once("close", () => fail(new Error("closed")));
      call.end(body);
    });
}

/** Has a `code`, like errors of the network. */
function timedOut(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** How much of an error response is read, so that its connection can be reused. */
const maxOfErrorPage = { bytes: 65_536, milliseconds: 1_000 } as const;

/**
 * Reads a whole body and decodes it. Over the limit it closes the connection, so that the rest is never received.
 * `maxBytes` limits the body as received, and again after decoding; `silenceInMillis` the time between two chunks.
 * @throws permanent failure over the limit; retryable failure if the body does not match its content coding; the
 * connection's errors unchanged
 */
export async function readBody(
  body: IncomingMessage,
  { maxBytes, silenceInMillis }: { readonly maxBytes: number; readonly silenceInMillis: number },
): Promise<Uint8Array> {
  const tooLarge = () => permanent(`the answer is over ${maxBytes} bytes; see provider.maxResponseBytes`);
  if (Number(body.headers["content-length"]) > maxBytes) {
    cut(body);
    throw tooLarge();
  }
  const deadline = endAfter(silenceInMillis, () => body.destroy(timedOut("BODY_TIMEOUT")));
  const chunks: Uint8Array[] = [];
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(body)) {
      deadline.refresh();
      bytes += chunk.byteLength;
      // Leaving the loop destroys the body, and with it the connection.
      if (bytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } finally {
    deadline.clear();
  }
  return decoded(Buffer.concat(chunks), body.headers["content-encoding"], maxBytes, tooLarge);
}

function chunksOf(body: IncomingMessage): AsyncIterable<Uint8Array> {
  return body;
}

/** Reads an unwanted body to its end if that is near; else closes the connection. */
export async function discard(body: IncomingMessage): Promise<void> {
  const deadline = endAfter(maxOfErrorPage.milliseconds, () => cut(body));
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(body)) {
      bytes += chunk.byteLength;
      if (bytes > maxOfErrorPage.bytes) break;
    }
  } catch {
    // Errors of an unwanted body do not matter.
  } finally {
    deadline.clear();
  }
}

function cut(body: IncomingMessage): void {
  body.on("error", () => undefined).destroy();
}

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type ResolveAll = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export const privateAddressReason =
  "the provider's address is private; correct provider.baseUrls, or set provider.allowPrivateAddresses to true";

/**
 * Resolves names for a connection and rejects a name if any of its addresses is private. The connection uses the
 * addresses that were checked, without a second lookup.
 */
export function publicLookup(resolve: ResolveAll = resolveName): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname, { all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, []);
      else if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address))) {
        callback(permanent(privateAddressReason), []);
      } else if (all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

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
  /** DynamoDB's time as read in this invocation, for the rate limiter; absent: the call takes a lease. */
  readonly serviceTime?: number;
};

type ApiLimits = Pick<ProviderSettings, "timeouts" | "maxResponseBytes" | "allowPrivateAddresses" | "error">;

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
   * @throws `Unauthorized` if the provider refused the token; failures as `readAnswer` decides; retryable failures of
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
      link: headers.link?.toString(),
      body: nothing,
    };
    const rules = { expects, error, url: url.href, now: this.#now() };
    if (!readsBody(status, expects)) {
      await discard(response);
      return readAnswer(answer, rules);
    }
    const bodyLimits = { maxBytes: maxResponseBytes, silenceInMillis: timeouts.bodySeconds * 1000 };
    const read = await readBody(response, bodyLimits).catch((error: unknown) => {
      throw failureOfCall("the provider's answer broke off", error, signal);
    });
    return readAnswer({ ...answer, body: read }, rules);
  }
}

const nothing = new Uint8Array();

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
