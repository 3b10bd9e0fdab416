import { type EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Stops an endless command: aborts on Ctrl-C, and when the output's reader has gone. */
export type Interruption = Disposable & { readonly signal: AbortSignal };

export function awaitInterruption({ stdout }: { readonly stdout: EventEmitter } = process): Interruption {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const onOutputError = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    abort();
  };
  process.once("SIGINT", abort).once("SIGTERM", abort);
  // The parent process ends its children this way.
  process.once("disconnect", abort);
  stdout.on("error", onOutputError);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off("SIGINT", abort).off("SIGTERM", abort).off("disconnect", abort);
      stdout.off("error", onOutputError);
    },
  };
}

/** Waits, or returns early when the signal aborts. */
export async function waitUnlessAborted(seconds: number, signal: AbortSignal): Promise<void> {
  // Only an abort rejects.
  await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
