import type { Delay } from "./delay.ts";
import type { HostedFunction } from "./hosted-function.ts";
import { isRecursionError } from "./lineage.ts";

/** Lambda's limit for an asynchronous event, in bytes. */
export const asynchronousPayloadBytes = 1_048_576;

export type AsynchronousInvoker = ReturnType<typeof createAsynchronousInvoker>;

const minute = 60_000;
/** Retries a throttled event until it expires; AWS's intervals grow from 1 s to 5 min. */
const longestThrottleWait = 5 * minute;

/**
 * Invokes functions asynchronously: a failed event is retried twice, after one minute and two.
 * Source: Lambda developer guide, "How Lambda handles errors and retries with asynchronous invocation".
 */
export function createAsynchronousInvoker(delay: Delay, now: () => number = Date.now) {
  const closing = new AbortController();
  const accepted = new Set<Promise<unknown>>();

  const attempt = async (
    target: HostedFunction,
    event: string,
    traces: readonly string[],
  ): Promise<"succeeded" | "given up"> => {
    const { maximumRetryAttempts, maximumEventAgeSeconds } = target.plan;
    const expires = now() + maximumEventAgeSeconds * 1000;
    let failures = 0;
    for (let throttles = 0; !closing.signal.aborted; ) {
      const outcome = await target.invoke(event, traces);
      if (outcome.kind === "returned") return "succeeded";
      if (outcome.kind === "failed" && isRecursionError(outcome.error)) return "given up";
      if (outcome.kind === "failed") failures += 1;
      else throttles += 1;
      const wait =
        outcome.kind === "failed" ? failures * minute : Math.min(longestThrottleWait, 500 * 2 ** throttles);
      if (failures > maximumRetryAttempts || now() + wait > expires) return "given up";
      await delay(wait, closing.signal);
    }
    return "given up";
  };

  return {
    /** Accepts an event (JSON text); resolves when it succeeded or was discarded. */
    invoke: (target: HostedFunction, event: string, traces: readonly string[] = []) => {
      const done = attempt(target, event, traces);
      accepted.add(done);
      return done.finally(() => accepted.delete(done));
    },
    /** Number of events in progress. */
    pending: () => accepted.size,
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.all(accepted);
    },
  };
}
