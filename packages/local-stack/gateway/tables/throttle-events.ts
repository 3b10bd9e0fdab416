import type { Operation } from "../operation.ts";

const throttles = [
  "ThrottlingException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "LimitExceededException",
];
const reads = ["GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"].map(
  (name) => `dynamodb:${name}`,
);

export type ThrottleEvent = {
  readonly tableName: string;
  readonly metric: "ReadThrottleEvents" | "WriteThrottleEvents";
};

/**
 * What CloudWatch would count of an error that a call to a table was answered with.
 * Source: DynamoDB developer guide, "DynamoDB metrics and dimensions".
 */
export function throttleEvent(
  { action, needs }: Pick<Operation, "action" | "needs">,
  errorType: string,
): ThrottleEvent | undefined {
  const tableName = /:table\/([^/]+)/.exec(needs[0]?.resource ?? "")?.[1];
  if (tableName === undefined || !throttles.includes(errorType)) return undefined;
  return { tableName, metric: reads.includes(action) ? "ReadThrottleEvents" : "WriteThrottleEvents" };
}
