import { FailureError } from "../../domain/core/failures.ts";

const throttled: ReadonlySet<string> = new Set([
  "LimitExceededException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "ThrottlingException",
]);
const connection: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNRESET",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** Whether an error of AWS passes by itself: AWS asks to go slower, has a trouble of its own, or is out of reach. */
export function isTransient(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (throttled.has(error.name) || error.name === "TimeoutError") return true;
  if ("code" in error && typeof error.code === "string" && connection.has(error.code)) return true;
  return "$fault" in error && error.$fault === "server";
}

/** Whether the answer is about what was asked for, and would be the same again: no outage of AWS, nor of the way to it. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof FailureError) return error.failure.type === "permanent";
  return error instanceof Error && "$fault" in error && error.$fault === "client" && !isTransient(error);
}
