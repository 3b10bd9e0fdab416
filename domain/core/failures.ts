/**
 * What went wrong, as something that a caller can act on: try again (after a delay), or give up (with a
 * reason that a person can read in the dead-letter queue). Messages hold codes and ids, never payloads.
 */
export type Failure =
  | {
      readonly type: "retryable";
      readonly reason: string;
      /** Not sooner than this. */
      readonly delayInSeconds: number;
      /** Up to how much later, at random; absent: as the back-off of its attempts says. */
      readonly spreadInSeconds?: number;
      /**
       * Nothing was attempted, so no attempt is counted. `permit`: it waits for a token or for the rate, which come
       * without it, however long that takes. `provider`: it is down, which is borne for the longest outage. `release`:
       * it is for a function of a later release, which may be there beside this one. `data`: the provider answered that
       * it is not ready, which is borne as long.
       */
      readonly waitsFor?: "permit" | "provider" | "release" | "data";
      /**
       * The provider took the token and refused the call (403). `alone`: it has just answered other calls, and refused no
       * other one since, so that the call's own subject is refused; `unknown`: it may refuse all calls.
       */
      readonly refused?: "alone" | "unknown";
    }
  | {
      readonly type: "permanent";
      readonly reason: string;
      /** The status of the provider's answer, where that is what went wrong. */
      readonly status?: number;
    };

/** Thrown where no result can be given; carries the failure. */
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

/** A retryable failure that counts as no attempt: the provider says that what is asked for is not ready yet. */
export function notReady(reason: string, delayInSeconds = 0): FailureError {
  return new FailureError({ type: "retryable", reason, delayInSeconds, waitsFor: "data" });
}

/** Whether a thrown value says that the provider is not ready. */
export function isNotReady(error: unknown): boolean {
  return (
    error instanceof FailureError && error.failure.type === "retryable" && error.failure.waitsFor === "data"
  );
}

/** Whether a call was made and failed; else it waits for what comes by itself. */
export function isAttempt({ failure }: FailureError): boolean {
  return failure.type === "retryable" && (failure.waitsFor === undefined || failure.waitsFor === "data");
}

/** A failure of a call that the provider refused: it may refuse all calls for a time. */
export function refusedCall(reason: string): FailureError {
  return new FailureError({ type: "retryable", reason, delayInSeconds: 0, refused: "unknown" });
}

/** Whether a thrown value is a call that the provider refused. */
export function isRefusedCall(
  error: unknown,
): error is FailureError & { readonly failure: Extract<Failure, { type: "retryable" }> } {
  return (
    error instanceof FailureError && error.failure.type === "retryable" && error.failure.refused !== undefined
  );
}

/** A retryable failure that counts as no attempt, however often it comes: a token or the rate is waited for. */
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

/** For so long a function leaves alone what it can't read yet: that an update of all functions takes is minutes. */
const updateInSeconds = 60;

/** A retryable failure that counts as no attempt: only a later release can read what was given. */
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
 * Any thrown value as a failure. What nobody classified is retryable: a permanent failure is a decision,
 * never a guess, and the queue's receive count ends what never gets better.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  return { type: "retryable", reason: error instanceof Error ? error.name : "unknown", delayInSeconds: 0 };
}
