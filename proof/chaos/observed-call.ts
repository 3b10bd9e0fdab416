import {
  batchAction,
  batchEntries,
  parseStatement,
} from "@income-events/local-stack/gateway/tables/statements.ts";
import type { Call, Outcome } from "@income-events/local-stack/gateway/types.ts";
import type { Part } from "./faults/fault-classes.ts";

/** One call, to AWS or to the provider, as it passes by. */
export type ObservedCall = {
  /** The logical id of the function that calls, or in whose name Lambda polls. */
  readonly function: string;
  /** Undefined for what is no part that fails here, such as an invocation. */
  readonly part: Part | undefined;
  /** For example `sqs:SendMessageBatch` or `GET`. */
  readonly action: string;
  /** What reports the call's place in the code: action, resource and kind of item, without any id. */
  readonly name: string;
  /** Whether the function's own process calls, and not Lambda in the name of its role. */
  readonly isFromFunction: boolean;
  readonly body: Buffer;
};

/** Decides what becomes of a call, before it leaves and after it was applied. */
export type Interference = (call: ObservedCall, phase: "before" | "after") => Promise<Outcome>;

/** @param functionOf the logical id of the function with a name; undefined for who is none */
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

/** Queues of which a function goes through all in one place of its code. */
const siblings = /[^-]+(?<kind>DeadLetters)[0-9A-F]{8}$|(?<kind>Subscriber)[^-]+Queue[0-9A-F]{8}$/;

/**
 * An object's ARN up to the first part of its key, a sibling's as all of its kind, any other up to what was generated.
 */
function withoutIds(arn: string): string {
  const [, , , , , whole = arn] = arn.split(":");
  const rest = whole.replace(siblings, (...found) => `*${Object(found.at(-1)).kind}`);
  const [bucketOrKind = "", first = ""] = rest.split("/");
  return arn.startsWith("arn:aws:s3") ? `${bucketOrKind}/${first}` : rest;
}

const keyed = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"];

/** The kinds of a table's items, by their keys: a function writes several to the one table. */
function kindOfItem(action: string, body: Buffer): readonly string[] {
  if (action === batchAction) {
    // Sort keys alone: which subjects and verbs meet in one batch is chance, and no place in the code.
    const kinds = batchEntries(body).map((entry) => kindOfKey(parseStatement(entry).attributes)[1] ?? "");
    return [...new Set(kinds)].toSorted();
  }
  if (!keyed.includes(action)) return [];
  const { Key, Item = Key } = Object(JSON.parse(body.toString()));
  return kindOfKey(Item);
}

function kindOfKey(item: unknown): readonly string[] {
  return ["pk", "sk"].map((name) => String(Object(Object(item)[name]).S).split("#")[0] ?? "");
}
