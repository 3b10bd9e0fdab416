import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { z } from "zod";
import type { Answer } from "../http-server.ts";
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

/** Number of messages by visibility, and the time at which the oldest that counts for its age was sent. */
export const queueSummary = z.object({
  ready: z.number(),
  delayed: z.number(),
  inflight: z.number(),
  /** Milliseconds since 1970; absent if no message counts. */
  oldestSent: z.number().optional(),
});
export type QueueSummary = z.infer<typeof queueSummary>;

/**
 * A message of a standard queue that was received this often moves to the back of the queue and no longer
 * counts for its age, even with a redrive policy. FIFO queues keep their order.
 * Source: SQS developer guide, "Available CloudWatch metrics for Amazon SQS", ApproximateAgeOfOldestMessage.
 */
const receivesUntilIgnored = 3;

/**
 * Summarizes a queue. A trap: a schema for the messages would copy each of them, up to hundreds of thousands.
 * @param inspected a queue as the engine returns it, with all messages
 * @returns undefined if it is not a queue
 */
export function summaryOf(inspected: unknown): QueueSummary | undefined {
  const messages = memberOf(inspected, "messages");
  const [ready, delayed, inflight] = ["ready", "delayed", "inflight"].map((name) => memberOf(messages, name));
  if (!Array.isArray(ready) || !Array.isArray(delayed) || !Array.isArray(inflight)) return undefined;
  const counts = { ready: ready.length, delayed: delayed.length, inflight: inflight.length };
  const name = memberOf(inspected, "name");
  const isFifo = typeof name === "string" && name.endsWith(".fifo");
  const receives = isFifo ? Number.POSITIVE_INFINITY : receivesUntilIgnored;
  // Messages in flight and delayed messages count too.
  const oldestSent = Math.min(
    oldestOf(ready, receives, (message) => message),
    oldestOf(delayed, receives, (message) => message),
    oldestOf(inflight, receives, (entry) => memberOf(entry, "message")),
  );
  return Number.isFinite(oldestSent) ? { ...counts, oldestSent } : counts;
}

function oldestOf(
  entries: readonly unknown[],
  receives: number,
  messageOf: (entry: unknown) => unknown,
): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const message = messageOf(entry);
    const [sent, received] = [
      memberOf(message, "sentTimestamp"),
      memberOf(message, "approximateReceiveCount"),
    ];
    if (typeof received === "number" && received >= receives) continue;
    if (typeof sent === "number" && sent < oldest) oldest = sent;
  }
  return oldest;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Account of every ARN and QueueUrl: the queue engine supports no other. */
export const localAccount = "000000000000";
