/**
 * A failure that the caller can act on: retry after a delay, or give up with a reason for a person to read in
 * the dead-letter queue. Reasons contain codes and ids, never payloads.
 */
export type Failure =
  | {
      readonly type: "retryable";
      readonly reason: string;
      /** Minimum delay. */
      readonly delayInSeconds: number;
      /** Maximum random addition to the delay; defaults to the exponential back-off. */
      readonly spreadInSeconds?: number;
      /**
       * Nothing was attempted, so no attempt is counted. `permit`: waits without limit for a token or the
       * rate limiter. `provider`: the provider is down; waits for the longest outage. `release`: only a
       * function of a later release, which may already be running, can process it. `data`: the provider is
       * not ready; waits as long as for an outage.
       */
      readonly waitsFor?: "permit" | "provider" | "release" | "data";
      /**
       * The provider rejected the call (403), or the token for it (401). `alone`: it has just answered other
       * calls and rejected no other since, so only this subject is rejected. `unknown`: it may reject all
       * calls.
       */
      readonly refused?: "alone" | "unknown";
    }
  | {
      readonly type: "permanent";
      readonly reason: string;
      /** HTTP status of the provider's answer, if that is the failure. */
      readonly status?: number;
    };

export class FailureError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.reason);
    this.name = failure.type === "permanent" ? "PermanentFailure" : "RetryableFailure";
    this.failure = failure;
  }
}

export function permanent(reason: string, status?: number): FailureError {
  return new FailureError({ type: "permanent", reason, ...(status === undefined ? {} : { status }) });
}

export function retryable(reason: string, delayInSeconds = 0): FailureError {
  return new FailureError({ type: "retryable", reason, delayInSeconds });
}

/** A retryable failure that counts as no attempt: the provider's data is not ready yet. */
export function notReady(reason: string, delayInSeconds = 0): FailureError {
  return new FailureError({ type: "retryable", reason, delayInSeconds, waitsFor: "data" });
}

export function isNotReady(error: unknown): boolean {
  return (
    error instanceof FailureError && error.failure.type === "retryable" && error.failure.waitsFor === "data"
  );
}

/** Whether a call was made and failed. If not, it waits for something that resolves by itself. */
export function isAttempt({ failure }: FailureError): boolean {
  if (failure.type === "permanent") return false;
  const { waitsFor, refused } = failure;
  return waitsFor === undefined || waitsFor === "data" || refused !== undefined;
}

/** A failure of a call that the provider rejected. It may reject all calls for a while. */
export function refusedCall(reason: string): FailureError {
  return new FailureError({ type: "retryable", reason, delayInSeconds: 0, refused: "unknown" });
}

export function isRefusedCall(
  error: unknown,
): error is FailureError & { readonly failure: Extract<Failure, { type: "retryable" }> } {
  return (
    error instanceof FailureError && error.failure.type === "retryable" && error.failure.refused !== undefined
  );
}

/**
 * A retryable failure that counts as no attempt, however often it occurs: it waits for a token or the rate
 * limiter.
 */
export function waiting(
  reason: string,
  delayInSeconds: number,
  spreadInSeconds = delayInSeconds,
): FailureError {
  return new FailureError({ type: "retryable", reason, delayInSeconds, spreadInSeconds, waitsFor: "permit" });
}

/** A retryable failure that counts as no attempt: the provider is known to be down. */
export function unreachable(reason: string, delayInSeconds: number, spreadInSeconds: number): FailureError {
  return new FailureError({
    type: "retryable",
    reason,
    delayInSeconds,
    spreadInSeconds,
    waitsFor: "provider",
  });
}

/** Delay for input of a later release. An update of all functions takes minutes. */
const updateInSeconds = 60;

/** A retryable failure that counts as no attempt: only a later release can read the input. */
export function laterRelease(reason: string): FailureError {
  return new FailureError({
    type: "retryable",
    reason,
    delayInSeconds: updateInSeconds,
    spreadInSeconds: 0,
    waitsFor: "release",
  });
}

/**
 * Converts any thrown value to a failure. Unclassified errors are retryable, because a permanent failure must
 * be an explicit decision. The queue's maximum receive count ends endless retries.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  return { type: "retryable", reason: error instanceof Error ? error.name : "unknown", delayInSeconds: 0 };
}
