import type { IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { endAfter } from "../aws/end-after.ts";

export type HttpRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
};

/** Resolves with the beginning of an answer, whose body is still to be read. Redirects are not followed. */
export type SendRequest = (url: URL, request: HttpRequest) => Promise<IncomingMessage>;

/** In milliseconds. */
export type RequestTimeouts = { readonly connect: number; readonly headers: number };

// Kept short: an environment of a function can be frozen, and its connections end unseen.
const keptForInMillis = 10_000;

/**
 * Requests over connections that are kept for the next one; HTTP/1.1 only.
 * @param protocol of all addresses that are asked, `http:` or `https:`
 * @param lookup finds the addresses of a name, and may refuse them; absent: Node's own
 */
export function requestSender(
  protocol: string,
  timeouts: RequestTimeouts,
  lookup?: LookupFunction,
): SendRequest {
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
export function timedOut(code: string): Error {
  return Object.assign(new Error(code), { code });
}
