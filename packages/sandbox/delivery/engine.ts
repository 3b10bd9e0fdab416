import { createHmac } from "node:crypto";
import { Agent, request } from "undici";
import type { Clock } from "../clock.ts";
import type { ProviderInterface } from "../provider-interface.ts";
import type { Store } from "../store.ts";
import type { Webhook, WebhookRegistry } from "../webhooks.ts";
import { type AttemptResult, type Claimed, type NewDelivery, openDeliveryQueue } from "./queue.ts";

export type Attempt = Pick<Claimed, "kind" | "body"> & { readonly result: AttemptResult };

export type DeliveryEngine = ReturnType<typeof createDeliveryEngine>;

export type DeliveryOptions = {
  /** System time; default 10 s. */
  readonly timeoutMs?: number;
  /** Wait before the first retry, doubled after each failure up to `maxRetryMs`; default 30 s. */
  readonly firstRetryMs?: number;
  /** Default one hour. */
  readonly maxRetryMs?: number;
  /**
   * Maximum attempts of a delivery, evaluated at each failure; default: three in interface 0.5, else limited
   * by time only.
   */
  readonly tries?: () => number | undefined;
  /** Maximum concurrent calls; default 16. */
  readonly concurrency?: number;
  readonly onAttempt?: (attempt: Attempt) => void;
};

export type EngineDependencies = {
  readonly clock: Clock;
  readonly store: Store;
  readonly webhooks: WebhookRegistry;
  readonly interface: ProviderInterface;
};

/** The provider stops retrying after three days. */
const giveUpAfterMs = 3 * 86_400_000;

/**
 * Delivers events at least once, in no particular order: several at a time, each retried with backoff until
 * the receiver answers 2xx or the retry period ends. Interface 0.5 makes three attempts, 30 s apart, and then
 * drops the event.
 */
export function createDeliveryEngine(
  { clock, store, webhooks, interface: version }: EngineDependencies,
  options: DeliveryOptions = {},
) {
  const isNewer = version === "0.5";
  const { timeoutMs = 10_000, firstRetryMs = 30_000, concurrency = 16, onAttempt } = options;
  const { tries = () => (isNewer ? 3 : undefined) } = options;
  const maxRetryMs = isNewer ? firstRetryMs : (options.maxRetryMs ?? 3_600_000);
  const queue = openDeliveryQueue(store);
  const sender = createSender(concurrency, timeoutMs);
  const underWay = new Set<Promise<void>>();
  const idleWaiters: (() => void)[] = [];
  const quietWaiters: (() => void)[] = [];
  let cancelWake: (() => void) | undefined;
  let pumpQueued = false;
  let closed = false;

  async function attempt(claimed: Claimed): Promise<void> {
    const webhook = webhooks.get(claimed.kind);
    const result: AttemptResult =
      webhook === undefined
        ? { error: "no webhook is registered" }
        : await sender.send(webhook, claimed.body, claimed.headers);
    onAttempt?.({ kind: claimed.kind, body: claimed.body, result });
    // An attempt aborted by closing does not count: the delivery stays queued.
    if (!closed) record(claimed, result);
  }

  /** Milliseconds before the attempt after `attempts` failures: doubled each time, up to the maximum. */
  function backOff(attempts: number): number {
    return Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 40));
  }

  function record(claimed: Claimed, result: AttemptResult): void {
    const now = clock.now();
    if (result.status !== undefined && result.status >= 200 && result.status < 300) {
      queue.finish(claimed.id, "delivered", result, now);
      return;
    }
    const attempts = claimed.attempts + 1;
    const mostAttempts = claimed.maxAttempts ?? tries() ?? Number.POSITIVE_INFINITY;
    const deadline = claimed.createdAt.getTime() + giveUpAfterMs;
    if (now.getTime() >= deadline || attempts >= mostAttempts) {
      queue.finish(claimed.id, "given-up", result, now);
      return;
    }
    const next = Math.min(now.getTime() + backOff(attempts), deadline);
    queue.retry(claimed.id, result, new Date(next));
  }

  function pump(): void {
    pumpQueued = false;
    if (closed) return;
    for (const claimed of queue.claim(concurrency - underWay.size, clock.now())) {
      const run = attempt(claimed).finally(() => {
        underWay.delete(run);
        schedulePump();
      });
      underWay.add(run);
    }
    cancelWake?.();
    cancelWake = undefined;
    if (underWay.size < concurrency) wakeForNext();
    resolveWaiters();
  }

  function wakeForNext(): void {
    const next = queue.nextDue();
    if (next !== undefined) cancelWake = clock.schedule(next, schedulePump);
  }

  function resolveWaiters(): void {
    if (underWay.size > 0) return;
    const next = queue.nextDue();
    if (next === undefined || next > clock.now()) release(quietWaiters);
    if (next === undefined) release(idleWaiters);
  }

  /** Many events are queued in one turn; one pass over the queue serves them all. */
  function schedulePump(): void {
    if (pumpQueued || closed) return;
    pumpQueued = true;
    setImmediate(pump);
  }

  schedulePump();
  return {
    /** Queues an event for delivery. If no webhook of its kind is registered, records that instead. */
    deliver: (delivery: NewDelivery): string => {
      const status = webhooks.get(delivery.kind)?.enabled === true ? "pending" : "unregistered";
      const id = queue.add(delivery, clock.now(), status);
      if (status === "pending") schedulePump();
      return id;
    },
    /** Records an event without delivering it. */
    drop: (delivery: NewDelivery): string => queue.add(delivery, clock.now(), "dropped"),
    /**
     * Queues a delivery again.
     * @returns whether the id exists
     */
    resend: (id: string): boolean => {
      const found = queue.again(id, clock.now());
      schedulePump();
      return found;
    },
    list: queue.list,
    waitUntilIdle: () => waitIn(idleWaiters, schedulePump),
    /** Resolves when no attempt is running or due. */
    quiet: () => waitIn(quietWaiters, schedulePump),
    close: async (): Promise<void> => {
      closed = true;
      cancelWake?.();
      await sender.close();
      await Promise.all(underWay);
      release(quietWaiters);
      release(idleWaiters);
    },
  };
}

function waitIn(waiters: (() => void)[], look: () => void): Promise<void> {
  return new Promise((resolve) => {
    waiters.push(resolve);
    look();
  });
}

function release(waiters: (() => void)[]): void {
  for (const resolve of waiters.splice(0)) resolve();
}

/**
 * Creates a sender with keep-alive connections.
 * @param timeoutMs system time: receivers do not use the sandbox's clock
 */
function createSender(connections: number, timeoutMs: number) {
  const dispatcher = new Agent({ connections, pipelining: 1 });
  const closing = new AbortController();
  return {
    /** Sends one request. Never throws; the result holds the error. */
    send: async (
      webhook: Webhook,
      body: Buffer,
      headers: Readonly<Record<string, string>>,
    ): Promise<AttemptResult> => {
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
    close: async (): Promise<void> => {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}

function signature({ secret }: Webhook, body: Buffer): Record<string, string> {
  if (secret === undefined) return {};
  return { "x-signature": createHmac("sha512", secret).update(body).digest("base64") };
}

/** Merges headers; later ones win, and names are case-insensitive. */
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
