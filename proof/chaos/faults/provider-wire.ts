import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import {
  createEngineClient,
  withoutConnectionHeaders,
} from "@income-events/local-stack/engines/engine-client.ts";
import { cut, forwardBy, isRefusal, refuse } from "@income-events/local-stack/gateway/outcomes.ts";
import { closeServer, listen, writeAnswer } from "@income-events/local-stack/http-server.ts";
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
    const reply = { response, service: undefined };
    const before = await interfere(call, "before");
    if (isRefusal(before)) return refuse(reply, before);
    const outgoing = { method, target, headers: withoutConnectionHeaders(headers) };
    const sentAt = Date.now();
    const answer = await forwardBy(typeof before === "object" ? before : {}, body, (sent) =>
      provider.send({ ...outgoing, body: sent }),
    );
    if (answer.status === 200) onFound(target, sentAt);
    const after = await interfere(call, "after");
    if (isRefusal(after)) return refuse(reply, after);
    if (before === "cut" || after === "cut") return cut(response, answer);
    writeAnswer(response, answer);
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

/** A path without its query, with `*` for each id and for an account's endpoint. */
function withoutIds(target: string): string {
  const [path = ""] = target.split("?");
  return path
    .replaceAll(/\/[0-9A-Za-z-]*\d[0-9A-Za-z-]{7,}/g, "/*")
    .replace(/\/\*\/(?!fetches|accounts)[^/]+$/, "/*/*");
}
