import type { EventEmitter } from "node:events";

/** Ends what has no end of its own: aborted by Ctrl-C, and where nobody reads the output any more. */
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

/** Waits, or ends at once when the signal aborts. */
export function waitUnlessAborted(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal.addEventListener("abort", end);
  });
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
