import { FailureError, failureOf } from "../../domain/core/failures.ts";

/**
 * Makes a handler throw only failures of our own. Lambda logs a thrown error with all its properties, and the
 * message of an AWS error may quote data. An unknown error is reported by its name.
 */
export function sanitizeErrors<Args extends readonly unknown[], Result>(
  handler: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await handler(...args);
    } catch (error) {
      throw error instanceof FailureError ? error : new FailureError(failureOf(error));
    }
  };
}
