import { createHmac } from "node:crypto";
import { Agent, request } from "undici";
import type { Webhook } from "../webhooks.ts";
import type { AttemptResult } from "./queue.ts";

export type Sender = {
  /** Makes one call. Never throws: what went wrong is in the answer. */
  send(webhook: Webhook, body: Buffer, headers: Readonly<Record<string, string>>): Promise<AttemptResult>;
  close(): Promise<void>;
};

/**
 * Calls webhooks over connections that are kept alive.
 * @param timeoutMs of the system's time, for receivers don't live on the sandbox's clock
 */
export function createSender(connections: number, timeoutMs: number): Sender {
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const closing = new AbortController();
  return {
    send: async (webhook, body, headers) => {
      try {
        const response = await request(webhook.url, {
          method: webhook.method,
          headers: merge(
            { "content-type": "application/json" },
            webhook.headers,
            signature(webhook, body),
            headers,
          ),
          body,
          dispatcher,
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
        });
        await response.body.dump();
        return { status: response.statusCode };
      } catch (error) {
        return { error: reasonOf(error) };
      }
    },
    close: async () => {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}

function signature({ secret }: Webhook, body: Buffer): Record<string, string> {
  if (secret === undefined) return {};
  return { "x-signature": createHmac("sha512", secret).update(body).digest("base64") };
}

/** Later ones win; names are compared without regard to case. */
function merge(...parts: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const merged: Record<string, string> = {};
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) merged[name.toLowerCase()] = value;
  }
  return merged;
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === "TimeoutError") return "timed out";
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}
