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

/** Whether an error is transient: AWS throttles, has an internal error, or is unreachable. */
export function isTransient(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (throttled.has(error.name) || error.name === "TimeoutError") return true;
  if ("code" in error && typeof error.code === "string" && connection.has(error.code)) return true;
  return "$fault" in error && error.$fault === "server";
}

/** Whether AWS rejected the request itself and would reject it again. Not an outage of AWS or of the network. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof FailureError) return error.failure.type === "permanent";
  return error instanceof Error && "$fault" in error && error.$fault === "client" && !isTransient(error);
}
