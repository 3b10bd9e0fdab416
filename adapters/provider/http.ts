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

// Kept short: an environment of a function can be frozen, and its connections end unseen.
const keptForInMillis = 10_000;

/**
 * Requests over connections that are kept for the next one; HTTP/1.1 only. A request resolves with the beginning of an
 * answer, whose body is still to be read. Redirects are not followed.
 * @param protocol of all addresses that are asked, `http:` or `https:`
 * @param lookup finds the addresses of a name, and may refuse them; absent: Node's own
 */
export function requestSender(
  protocol: string,
  timeouts: RequestTimeouts,
  lookup?: LookupFunction,
): (url: URL, request: HttpRequest) => Promise<IncomingMessage> {
  const isSecure = protocol === "https:";
  const options = { keepAlive: true, timeout: keptForInMillis, ...(lookup && { lookup }) };
  // Never imported: as an ES module `node:http` loads all that it exports, Node's WebSocket client with it, which takes
  // longer than the rest of a start. In AWS it is not needed.
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
      // Not once: what comes after the answer's beginning is the body's, and must not end the process.
      call.on("error", fail);
      call.once("close", () => fail(new Error("closed")));
      call.end(body);
    });
}

/** As an error of the network is reported, by its code. */
function timedOut(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** What is read of an error's page, so that its connection can be used again; more is not worth the time. */
const maxOfErrorPage = { bytes: 65_536, milliseconds: 1_000 } as const;

type BodyLimits = {
  /** As it comes, and without its content codings. */
  readonly maxBytes: number;
  /** The longest between two parts. */
  readonly silenceInMillis: number;
};

/**
 * Reads a body whole, and undoes its content codings. Over the limit the connection is cut: what else would come is never
 * received.
 * @throws permanent failure over the limit, retryable where it is in no coding that its header names; the connection's
 * errors as they are
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
      // Leaving the loop ends the body, and with it the connection.
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

/** Reads a body that nobody wants to its end, if that is near; else the connection is cut. */
export async function discard(body: IncomingMessage): Promise<void> {
  const deadline = endAfter(maxOfErrorPage.milliseconds, () => cut(body));
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(body)) {
      bytes += chunk.byteLength;
      if (bytes > maxOfErrorPage.bytes) break;
    }
  } catch {
    // It broke off, and nobody wants it.
  } finally {
    deadline.clear();
  }
}

function cut(body: IncomingMessage): void {
  body.on("error", () => undefined).destroy();
}

/** All addresses of a name, as `dns.lookup` gives them. */
export type ResolveAll = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export const privateAddressReason =
  "the provider's address is private; correct provider.baseUrls, or set provider.allowPrivateAddresses to true";

/**
 * Resolves names for a connection and refuses one of which any address is private. What it answers is what is
 * connected to: no second look at the name lies between the check and its use.
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
