import { FailureError, isNotReady, isRefusedCall } from "../../domain/core/failures.ts";
import type { CallResult } from "../../domain/fetch/breaker.ts";
import type { CallWithToken } from "./provider-api.ts";
import type { Permit } from "./rate-limiter.ts";
import type { SharedBreaker } from "./shared-breaker.ts";

/**
 * Guards each call to the provider, a repeated one included: the breaker admits it, the rate permits it, and what
 * it found is reported to the breaker. A run of refusals of different calls counts like an outage.
 */
export function guardedCall(
  call: CallWithToken,
  admit: SharedBreaker["admit"],
  permit: Permit,
  now: () => Date,
): CallWithToken {
  const refusals = new Refusals(now);
  return async (token, apiCall) => {
    const report = await admit();
    await permit();
    try {
      const answer = await call(token, apiCall);
      refusals.answered(apiCall.path);
      await report("healthy");
      return answer;
    } catch (error) {
      if (isNotReady(error)) refusals.answered(apiCall.path);
      const isRepeated = isRefusedCall(error) && refusals.refused(apiCall.path);
      await report(isRepeated ? { pauseInSeconds: 0, isRepeated } : callResultOf(error));
      throw refusals.judged(error, apiCall.path);
    }
  };
}

/** An answer tells for so long that the provider refuses one call alone. */
const answerCountsForMs = 5 * 60_000;
/** More refused calls than this need not be told apart. */
const maxRefused = 100;

/** Which calls one process saw refused since the provider last answered, and what it answered then. */
class Refusals {
  readonly #now: () => Date;
  readonly #refused = new Set<string>();
  #answered: { readonly path: string; readonly at: number } | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  answered(path: string): void {
    this.#refused.clear();
    this.#answered = { path, at: this.#now().getTime() };
  }

  /** @returns whether the call was refused before */
  refused(path: string): boolean {
    const isRepeated = this.#refused.has(path);
    if (this.#refused.size < maxRefused) this.#refused.add(path);
    return isRepeated;
  }

  /** The error, which says whether the call is refused alone. */
  judged(error: unknown, path: string): unknown {
    if (!isRefusedCall(error)) return error;
    const { path: other, at = 0 } = this.#answered ?? {};
    const isRecent = this.#now().getTime() - at <= answerCountsForMs;
    const isAlone = this.#refused.size === 1 && other !== undefined && other !== path && isRecent;
    return isAlone ? new FailureError({ ...error.failure, refused: "alone" }) : error;
  }
}

/**
 * A provider that refuses a call, for its token or for good, or has no data ready, is healthy; a failure that may pass says
 * that it is not well.
 */
function callResultOf(error: unknown): CallResult {
  const failure = error instanceof FailureError ? error.failure : undefined;
  if (failure?.type !== "retryable" || isNotReady(error)) return "healthy";
  return { pauseInSeconds: failure.delayInSeconds };
}

/**
 * A permit for those who must not fail for the rate alone: the token's refresh, a registration. It asks again when
 * the next window begins, until `patienceInSeconds` are over.
 */
export function patient(
  permit: Permit,
  patienceInSeconds: number,
  now: () => Date,
  sleep: (milliseconds: number) => Promise<unknown>,
): Permit {
  return async () => {
    const end = now().getTime() + patienceInSeconds * 1000;
    for (;;) {
      try {
        return await permit();
      } catch (error) {
        const wait = waitOf(error);
        if (wait === undefined || now().getTime() + wait >= end) throw error;
        await sleep(wait);
      }
    }
  };
}

/** In milliseconds; undefined where something else failed than the rate. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof FailureError) || error.failure.type !== "retryable") return undefined;
  const { waitsFor, delayInSeconds } = error.failure;
  return waitsFor === "permit" ? Math.ceil(delayInSeconds * 1000) : undefined;
}
