import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { type Answer, bodyOf } from "../http-server.ts";
import { secretHeadersFor } from "./run-secret.ts";

export type EngineRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
};

export type EngineClient = {
  send(request: EngineRequest): Promise<Answer>;
  close(): void;
};

/**
 * Creates a client that keeps connections alive.
 * @param address the engine's address, with its secret if it requires one
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
          const { statusCode: status = 502 } = response;
          const headers = withoutConnectionHeaders(response.headers);
          bodyOf(response).then((body = Buffer.alloc(0)) => resolve({ status, headers, body }), reject);
        },
      );
      upstream.on("error", (error: NodeJS.ErrnoException) => {
        // The engine closed an idle connection before it received the request, so a retry is safe.
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

/** Calls the queue engine for the gateway's own needs. */
export function askQueue(engine: EngineClient, operation: string, input: object): Promise<Answer> {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${operation}` };
  return engine.send({ method: "POST", target: "/", headers, body: Buffer.from(JSON.stringify(input)) });
}

const connectionHeaders = ["connection", "keep-alive", "transfer-encoding", "expect", "host"];

export function withoutConnectionHeaders(
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => value !== undefined && !connectionHeaders.includes(name),
    ),
  );
}

/** Account of every ARN and QueueUrl: the queue engine supports no other. */
export const localAccount = "000000000000";
