import type { Answer } from "../../http-server.ts";
import { asList, asObject, asString, type Operation, parseJsonObject } from "../operation.ts";
import type { Fault } from "../types.ts";
import { batchAction } from "./statements.ts";

const throttles = [
  "ThrottlingException",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "LimitExceededException",
  // Error of one statement in a batch.
  "ThrottlingError",
  "ProvisionedThroughputExceeded",
];
const reads = ["GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "PartiQLSelect"].map(
  (name) => `dynamodb:${name}`,
);

export type ThrottleEvent = {
  readonly tableName: string;
  readonly metric: "ReadThrottleEvents" | "WriteThrottleEvents";
};

type Called = Pick<Operation, "action" | "needs">;

/**
 * Throttling metrics of an answer to a call to a table: the call's error, or those of its statements.
 * Source: DynamoDB developer guide, "DynamoDB metrics and dimensions".
 */
export function throttleEvents(operation: Called, answer: Fault | Answer): readonly ThrottleEvent[] {
  const { action, needs } = operation;
  if ("errorType" in answer) return eventOf(needs[0], action, answer.errorType);
  if (action !== batchAction) return [];
  const { Responses: responses } = parseJsonObject(answer.body.toString());
  return asList(responses).flatMap((response, place) =>
    eventOf(needs[place], needs[place]?.action ?? "", asString(asObject(asObject(response).Error).Code)),
  );
}

function eventOf(
  need: Called["needs"][number] | undefined,
  action: string,
  errorType: string,
): readonly ThrottleEvent[] {
  const tableName = /:table\/([^/]+)/.exec(need?.resource ?? "")?.[1];
  if (tableName === undefined || !throttles.includes(errorType)) return [];
  const isRead = reads.includes(action) || reads.includes(need?.action ?? "");
  return [{ tableName, metric: isRead ? "ReadThrottleEvents" : "WriteThrottleEvents" }];
}
