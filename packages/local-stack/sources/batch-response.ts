import { isObject } from "../gateway/operation.ts";
import type { Outcome } from "../lambda/hosted-function.ts";

export type BatchResult =
  | { readonly kind: "succeeded" }
  /** Only these identifiers failed. */
  | { readonly kind: "partial"; readonly failed: ReadonlySet<string> }
  | { readonly kind: "failed"; readonly reason: string };

/** IteratorAge in milliseconds, and the event counts that a mapping may publish. */
export type SourceMetricName =
  | "IteratorAge"
  | "InvokedEventCount"
  | "FailedInvokeEventCount"
  | "OnFailureDestinationDeliveredEventCount"
  | "DroppedEventCount";

/**
 * Parses a function's answer to a batch.
 * Source: Lambda developer guide, "Success and failure conditions" of partial batch responses.
 * @param reportsItemFailures whether the mapping has ReportBatchItemFailures; without it the answer's content
 * is ignored
 * @param identifiers the batch's message ids or sequence numbers
 */
export function batchResult(
  outcome: Outcome,
  reportsItemFailures: boolean,
  identifiers: readonly string[],
): BatchResult {
  switch (outcome.kind) {
    case "throttled":
      return { kind: "failed", reason: "throttled" };
    case "failed":
      return { kind: "failed", reason: `${outcome.error.errorType}: ${outcome.error.errorMessage}` };
    case "returned":
      return reportsItemFailures
        ? readItemFailures(JSON.parse(outcome.payload), identifiers)
        : { kind: "succeeded" };
  }
}

function readItemFailures(response: unknown, identifiers: readonly string[]): BatchResult {
  if (response === null) return { kind: "succeeded" };
  if (!isObject(response)) return malformed(`the response is ${JSON.stringify(response)}`);
  const { batchItemFailures: failures } = response;
  if (failures === undefined || failures === null) return { kind: "succeeded" };
  if (!Array.isArray(failures)) return malformed("batchItemFailures is not a list");
  const failed = new Set<string>();
  for (const failure of failures) {
    const identifier: unknown = isObject(failure) ? failure.itemIdentifier : undefined;
    if (typeof identifier !== "string" || !identifiers.includes(identifier)) {
      return malformed(`batchItemFailures has the entry ${JSON.stringify(failure)}`);
    }
    failed.add(identifier);
  }
  return failed.size === 0 ? { kind: "succeeded" } : { kind: "partial", failed };
}

function malformed(what: string): BatchResult {
  return { kind: "failed", reason: `malformed batch response: ${what}` };
}

/**
 * Number of events that count as FailedInvokeEventCount: those that the response names, or all; none if the
 * invocation was throttled. Source: Lambda developer guide, "Types of metrics for Lambda functions", event
 * source mapping metrics.
 */
export function failedEvents(outcome: Outcome, result: BatchResult, events: number): number {
  if (outcome.kind === "throttled" || result.kind === "succeeded") return 0;
  return result.kind === "partial" ? result.failed.size : events;
}
