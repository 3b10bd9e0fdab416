import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import type { Answer } from "../http-server.ts";
import { secretHeadersFor } from "./run-secret.ts";

export type EngineRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

/** The way to one engine. */
export type EngineClient = {
  send(request: EngineRequest): Promise<Answer>;
  close(): void;
};

/**
 * Keeps connections open between calls.
 * @param address of the engine, with the secret of its run where it asks for one
 */
export function createEngineClient(address: string): EngineClient {
  const { hostname, port } = new URL(address);
  const secret = secretHeadersFor(address);
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });

  function attempt(outgoing: EngineRequest, isRetry: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const upstream = request(
        {
          agent,
          hostname,
          port,
          method: outgoing.method,
          path: outgoing.target,
          headers: { ...outgoing.headers, ...secret, "content-length": outgoing.body.length },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () => {
            const headers = withoutConnectionHeaders(response.headers);
            resolve({ status: response.statusCode ?? 502, headers, body: Buffer.concat(chunks) });
          });
        },
      );
      upstream.on("error", (error: NodeJS.ErrnoException) => {
        // The engine may close an idle connection just as it is used again; it has then seen nothing of the call.
        if (!isRetry && upstream.reusedSocket && error.code === "ECONNRESET") {
          attempt(outgoing, true).then(resolve, reject);
        } else {
          reject(error);
        }
      });
      upstream.end(outgoing.body);
    });
  }

  return { send: (outgoing) => attempt(outgoing, false), close: () => agent.destroy() };
}

const connectionHeaders = ["connection", "keep-alive", "transfer-encoding", "expect", "host"];

/** Headers that belong to one connection and not to the message. */
export function withoutConnectionHeaders(
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !connectionHeaders.includes(name),
    ),
  );
}
