import { FailureError } from "../../domain/core/failures.ts";
import type { CallResult } from "../../domain/fetch/breaker.ts";
import type { CallWithToken } from "./provider-api.ts";
import type { Permit } from "./rate-limiter.ts";
import type { SharedBreaker } from "./shared-breaker.ts";

/**
 * Guards each call to the provider, a repeated one included: the breaker admits it, the rate permits it, and what
 * it found is reported to the breaker.
 */
export function guardedCall(
  call: CallWithToken,
  admit: SharedBreaker["admit"],
  permit: Permit,
): CallWithToken {
  return async (token, apiCall) => {
    const report = await admit();
    await permit();
    try {
      const answer = await call(token, apiCall);
      await report("healthy");
      return answer;
    } catch (error) {
      await report(callResultOf(error));
      throw error;
    }
  };
}

/** Whoever refuses a call, for its token or for good, is healthy; a failure that may pass says that it is not well. */
function callResultOf(error: unknown): CallResult {
  const failure = error instanceof FailureError ? error.failure : undefined;
  if (failure?.kind !== "retryable") return "healthy";
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
  if (!(error instanceof FailureError) || error.failure.kind !== "retryable") return undefined;
  const { waitsFor, delayInSeconds } = error.failure;
  return waitsFor === "permit" ? Math.ceil(delayInSeconds * 1000) : undefined;
}
