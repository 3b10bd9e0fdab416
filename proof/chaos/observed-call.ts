import {
  batchAction,
  batchEntries,
  parseStatement,
} from "@income-events/local-stack/gateway/tables/statements.ts";
import type { Call, Outcome } from "@income-events/local-stack/gateway/types.ts";
import type { Part } from "./faults/fault-classes.ts";

/** A call to AWS or the provider. */
export type ObservedCall = {
  /** Logical id of the function that calls, or for which Lambda polls. */
  readonly function: string;
  /** Undefined for calls that never fail here, such as an invocation. */
  readonly part: Part | undefined;
  /** For example `sqs:SendMessageBatch` or `GET`. */
  readonly action: string;
  /** Identifies the place in the code: action, resource and kind of item, without ids. */
  readonly name: string;
  /** Whether the function's own process calls, rather than Lambda in its role. */
  readonly isFromFunction: boolean;
  readonly body: Buffer;
};

/** Decides the outcome of a call, before it is sent and after it was applied. */
export type Interference = (call: ObservedCall, phase: "before" | "after") => Promise<Outcome>;

/** @param functionOf returns the logical id of a function by name; undefined for other callers */
export function observedCall(
  call: Call,
  functionOf: (name: string) => string | undefined,
): ObservedCall | undefined {
  const caller = functionOf(call.principal);
  if (caller === undefined) return undefined;
  const { action, body, isFromFunction, service } = call;
  const resources = [...new Set(call.resources.map(withoutIds))].toSorted();
  const name = [action, ...resources, ...kindOfItem(action, body)].join(" ");
  return { function: caller, part: partOf(service), action, name, isFromFunction, body };
}

function partOf(service: Call["service"]): Part | undefined {
  switch (service) {
    case "sqs":
    case "dynamodb":
    case "s3":
      return service;
    case "streams":
      return "stream";
    case "secretsmanager":
      return "secrets";
    case "lambda":
    case "cloudwatch":
    case "logs":
    case "cloudformation":
    case "sts":
      return undefined;
  }
}

/** Queues that a function iterates over at one place of its code. */
const siblings = /[^-]+(?<kind>DeadLetters)[0-9A-F]{8}$|(?<kind>Subscriber)[^-]+Queue[0-9A-F]{8}$/;

/**
 * Shortens an object's ARN to the first part of its key, a sibling's to its kind, any other by its generated
 * suffix.
 */
function withoutIds(arn: string): string {
  const [, , , , , whole = arn] = arn.split(":");
  const rest = whole.replace(siblings, (...found) => `*${Object(found.at(-1)).kind}`);
  const [bucketOrKind = "", first = ""] = rest.split("/");
  return arn.startsWith("arn:aws:s3") ? `${bucketOrKind}/${first}` : rest;
}

const keyed = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"];

/** Kinds of a table's items, by their keys: a function writes several to the one table. */
function kindOfItem(action: string, body: Buffer): readonly string[] {
  if (action === batchAction) {
    // One kind, from the sort keys: which kinds, subjects and verbs share a batch is chance, and may not recur.
    const kinds = batchEntries(body).map((entry) => kindOfKey(parseStatement(entry).attributes)[1] ?? "");
    return kinds.toSorted().slice(0, 1);
  }
  if (!keyed.includes(action)) return [];
  const { Key, Item = Key } = Object(JSON.parse(body.toString()));
  return kindOfKey(Item);
}

function kindOfKey(item: unknown): readonly string[] {
  return ["pk", "sk"].map((name) => String(Object(Object(item)[name]).S).split("#")[0] ?? "");
}
