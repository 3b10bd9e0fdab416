import { type LookupAddress, lookup as resolveName } from "node:dns";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { permanent } from "../../domain/core/failures.ts";
import { isPrivateAddress } from "../../domain/core/private-addresses.ts";
import { endAfter } from "../aws/end-after.ts";
import { decoded } from "../content-coding.ts";

type HttpRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
};

/** In milliseconds. */
type RequestTimeouts = { readonly connect: number; readonly headers: number };

// Short, because connections of a frozen function environment close unnoticed.
const keptForInMillis = 10_000;

/**
 * Sends requests over keep-alive connections, HTTP/1.1 only. A request resolves with the start of the response, whose
 * body is still to be read. Redirects are not followed.
 * @param protocol of all addresses, `http:` or `https:`
 * @param lookup resolves names and may reject them; absent: Node's own
 */
export function requestSender(
  protocol: string,
  timeouts: RequestTimeouts,
  lookup?: LookupFunction,
): (url: URL, request: HttpRequest) => Promise<IncomingMessage> {
  const isSecure = protocol === "https:";
  const options = { keepAlive: true, timeout: keptForInMillis, ...(lookup && { lookup }) };
  // Not imported: as an ES module, `node:http` loads all its exports, including Node's WebSocket client, which takes
  // longer than the rest of a cold start. In AWS it is not needed.
  const { Agent, request } = isSecure ? https : process.getBuiltinModule("node:http");
  const agent = new Agent(options);
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
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

type BodyLimits = {
  /** Applies to the body as received, and again after decoding. */
  readonly maxBytes: number;
  /** The longest time between two chunks. */
  readonly silenceInMillis: number;
};

/**
 * Reads a whole body and decodes it. Over the limit it closes the connection, so that the rest is never received.
 * @throws permanent failure over the limit; retryable failure if the body does not match its content coding; the
 * connection's errors unchanged
 */
export async function readBody(
  body: IncomingMessage,
  { maxBytes, silenceInMillis }: BodyLimits,
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
