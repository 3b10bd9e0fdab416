import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import {
  createEngineClient,
  withoutConnectionHeaders,
} from "@income-events/local-stack/engines/engine-client.ts";
import type { Outcome } from "@income-events/local-stack/gateway/types.ts";
import { type Answer, closeServer, listen } from "@income-events/local-stack/http-server.ts";
import type { Interference, ObservedCall } from "../observed-call.ts";

export type WireHooks = {
  readonly interfere: Interference;
  readonly onFound: (target: string, sentAt: number) => void;
};

/** A provider URL for one function, where faults can be applied to its calls. */
export type ProviderWire = AsyncDisposable & { readonly url: string };

/**
 * @param caller logical id of the function
 * @param onFound receives the path and time of each call that the provider answers with 200
 */
export async function startProviderWire(
  providerUrl: string,
  caller: string,
  { interfere, onFound }: WireHooks,
): Promise<ProviderWire> {
  const provider = createEngineClient(providerUrl);
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const { method = "GET", url: target = "/", headers } = request;
    const call: ObservedCall = {
      function: caller,
      part: "provider",
      action: method,
      name: `${method} ${withoutIds(target)}`,
      isFromFunction: true,
      body,
    };
    const before = await interfere(call, "before");
    if (refused(before, response)) return;
    const { times = 1, delayAnswerMs = 0 } =
      typeof before === "object" && !("status" in before) ? before : {};
    const outgoing = { method, target, headers: withoutConnectionHeaders(headers), body };
    const sentAt = Date.now();
    let answer = await provider.send(outgoing);
    if (answer.status === 200) onFound(target, sentAt);
    for (let sent = 1; sent < times; sent += 1) answer = await provider.send(outgoing);
    if (delayAnswerMs > 0) await wait(delayAnswerMs);
    const after = await interfere(call, "after");
    if (refused(after, response)) return;
    write(response, answer, before === "cut" || after === "cut");
  };
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
      provider.close();
    },
  };
}

/** Applies an outcome that ends the call; returns whether it did. */
function refused(outcome: Outcome, response: ServerResponse): boolean {
  if (outcome === "hang") return true;
  if (outcome === "drop") {
    response.destroy();
    return true;
  }
  if (typeof outcome !== "object" || !("status" in outcome)) return false;
  const { status, message } = outcome;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ message }));
  return true;
}

function write(response: ServerResponse, { status, headers, body }: Answer, isCut: boolean): void {
  response.writeHead(status, { ...headers, "content-length": body.length });
  if (isCut) response.write(body.subarray(0, body.length / 2), () => response.destroy());
  else response.end(body);
}

/** A path without its query, with `*` for each id and for an account's endpoint. */
function withoutIds(target: string): string {
  const [path = ""] = target.split("?");
  return path
    .replaceAll(/\/[0-9A-Za-z-]*\d[0-9A-Za-z-]{7,}/g, "/*")
    .replace(/\/\*\/(?!fetches|accounts)[^/]+$/, "/*/*");
}
