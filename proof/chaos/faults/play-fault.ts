import { setTimeout as wait } from "node:timers/promises";
import { asObject, parseJsonObject } from "@income-events/local-stack/gateway/operation.ts";
import { failStatements } from "@income-events/local-stack/gateway/tables/statement-faults.ts";
import { batchAction, batchEntries } from "@income-events/local-stack/gateway/tables/statements.ts";
import type { Outcome } from "@income-events/local-stack/gateway/types.ts";
import type { ObservedCall } from "../observed-call.ts";
import { type Mode, modes, type Part } from "./fault-classes.ts";

/** Lambda's pollers never time out, unlike functions. */
const pollerPatienceMs = 1_500;
const lateMs = 700;

const batches: ReadonlySet<string> = new Set([
  "sqs:SendMessageBatch",
  "sqs:DeleteMessageBatch",
  "sqs:ChangeMessageVisibilityBatch",
]);
const pages: ReadonlySet<string> = new Set(["dynamodb:Query", "dynamodb:Scan"]);

/** Modes that a call supports. */
export function modesOf({ action, part }: ObservedCall): readonly Mode[] {
  return modes.filter((mode) => {
    // A receive that runs twice hides messages from the caller, which is no service's fault.
    if (mode === "answers-twice") return action !== "sqs:ReceiveMessage";
    if (mode !== "answers-partly") return true;
    if (part === "sqs") return batches.has(action);
    if (part === "dynamodb")
      return pages.has(action) || action === "dynamodb:BatchGetItem" || action === batchAction;
    return part !== "stream" || action === "dynamodb:GetRecords";
  });
}

/** Applies a fault to a call before it is sent. */
export async function playFault(call: ObservedCall, part: Part, mode: Mode): Promise<Outcome> {
  switch (mode) {
    case "fails":
      return { status: 500, errorType: "InternalFailure", message: "injected" };
    case "throttles":
      return throttling(part);
    case "times-out":
      if (call.isFromFunction) return "hang";
      await wait(pollerPatienceMs);
      return "drop";
    case "answers-late":
      return { delayAnswerMs: lateMs };
    case "answers-twice":
      return { times: 2 };
    case "answers-partly":
      return partly(call);
  }
}

/** Each service's own throttling error. */
function throttling(part: Part): Outcome {
  const message = "injected";
  switch (part) {
    case "s3":
      return { status: 503, errorType: "SlowDown", message };
    case "sqs":
      return { status: 403, errorType: "RequestThrottled", message };
    case "provider":
      return { status: 429, errorType: "TooManyRequests", message };
    case "dynamodb":
    case "stream":
    case "secrets":
      return { status: 400, errorType: "ThrottlingException", message };
  }
}

function partly({ action, body }: ObservedCall): Outcome {
  if (batches.has(action)) return partOfBatch(parseJsonObject(body.toString()));
  if (action === batchAction) {
    const last = batchEntries(body).length - 1;
    return failStatements(body, new Map([[last, { code: "ThrottlingError", message: "injected" }]]));
  }
  if (action === "dynamodb:BatchGetItem") return partOfKeys(parseJsonObject(body.toString()));
  if (pages.has(action) || action === "dynamodb:GetRecords") {
    return { body: JSON.stringify({ ...parseJsonObject(body.toString()), Limit: 1 }) };
  }
  return "cut";
}

/** Fails the last entry and applies all others. */
function partOfBatch(input: Readonly<Record<string, unknown>>): Outcome {
  const entries = listIn(input, "Entries");
  const failed = { Id: asObject(entries.at(-1)).Id, SenderFault: false, Code: "InternalError" };
  return {
    times: entries.length > 1 ? 1 : 0,
    body: JSON.stringify({ ...input, Entries: entries.slice(0, -1) }),
    answer: (text) => JSON.stringify({ Successful: [], ...parseJsonObject(text), Failed: [failed] }),
  };
}

/** Leaves the last key of the one table unread. */
function partOfKeys(input: Readonly<Record<string, unknown>>): Outcome {
  const [[table, request] = ["", {}]] = Object.entries(asObject(input.RequestItems));
  const keys = listIn(asObject(request), "Keys");
  const requestOf = (Keys: readonly unknown[]) => ({ [table]: { ...asObject(request), Keys } });
  const UnprocessedKeys = requestOf(keys.slice(-1));
  return {
    times: keys.length > 1 ? 1 : 0,
    body: JSON.stringify({ ...input, RequestItems: requestOf(keys.slice(0, -1)) }),
    answer: (text) => JSON.stringify({ Responses: {}, ...parseJsonObject(text), UnprocessedKeys }),
  };
}

function listIn(input: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = input[name];
  return Array.isArray(list) ? list : [];
}
