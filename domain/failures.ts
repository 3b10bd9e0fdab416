/**
 * What went wrong, as something that a caller can act on: try again (after a delay), or give up (with a
 * reason that a person can read in the dead-letter queue). Messages hold codes and ids, never payloads.
 */
export type Failure =
  | {
      readonly kind: "retryable";
      readonly reason: string;
      readonly delayInSeconds: number;
      /** What it waits for comes without it, a token or the next minute: no attempt is counted. */
      readonly isWaiting?: true;
    }
  | {
      readonly kind: "permanent";
      readonly reason: string;
      /** The status of the provider's answer, where that is what went wrong. */
      readonly status?: number;
    };

/** Thrown where no result can be given; carries the failure. */
export class FailureError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.reason);
    this.name = failure.kind === "permanent" ? "PermanentFailure" : "RetryableFailure";
    this.failure = failure;
  }
}

export function permanent(reason: string, status?: number): FailureError {
  return new FailureError({ kind: "permanent", reason, ...(status === undefined ? {} : { status }) });
}

export function retryable(reason: string, delayInSeconds = 0): FailureError {
  return new FailureError({ kind: "retryable", reason, delayInSeconds });
}

/** A retryable failure that counts as no attempt, however often it comes. */
export function waiting(reason: string, delayInSeconds: number): FailureError {
  return new FailureError({ kind: "retryable", reason, delayInSeconds, isWaiting: true });
}

/**
 * Any thrown value as a failure. What nobody classified is retryable: a permanent failure is a decision,
 * never a guess, and the queue's receive count ends what never gets better.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  return { kind: "retryable", reason: error instanceof Error ? error.name : "unknown", delayInSeconds: 0 };
}
