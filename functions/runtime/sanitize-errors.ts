import { FailureError, failureOf } from "../../domain/core/failures.ts";

/**
 * A handler that throws nothing but failures of our own: Lambda writes what is thrown into the log, with all of its
 * properties, and the message of an AWS error may quote a value. What is unknown is reported by its name.
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
