import type { RequestContext } from "../iam/evaluate.ts";
import type { Service } from "./types.ts";

/** One permission that a call needs. */
export type Need = {
  readonly action: string;
  readonly resource: string;
  /** What conditions may ask for. */
  readonly context?: RequestContext;
};

/** A request as its service understands it. */
export type Operation = {
  readonly service: Service;
  /** For example `sqs:SendMessageBatch`. */
  readonly action: string;
  /** All of them must be allowed. */
  readonly needs: readonly Need[];
  /** The body for the engine, where it differs from the caller's. */
  readonly body?: string;
  /** Turns the engine's successful answer into the caller's. */
  readonly rewriteAnswer?: (body: string) => string;
};

/** A request that is not understood; it is refused with 403 and recorded. */
export class UnknownOperationError extends Error {
  override readonly name = "UnknownOperationError";
  readonly action: string;

  /** @param what the gateway does not know, and what it knows in its place */
  constructor(action: string, what: string) {
    super(`The local gateway does not know ${what}`);
    this.action = action;
  }
}

/** @throws UnknownOperationError for an operation, or an input of it, that is not among those that are known */
export function checkInputs(
  action: string,
  input: JsonObject,
  known: Readonly<Record<string, readonly string[]>>,
  hint = "",
): void {
  const name = action.split(":")[1] ?? "";
  const unknown = Object.keys(input).find((key) => !known[name]?.includes(key));
  if (known[name] !== undefined && unknown === undefined) return;
  const what = known[name] === undefined ? action : `${action} with ${unknown}`;
  const operations = Object.keys(known).join(" and ");
  throw new UnknownOperationError(action, `the operation ${what}; it knows ${operations}${hint}`);
}

/** Where every resource of the local system is. */
export type Place = { readonly region: string; readonly account: string };

export type JsonObject = Readonly<Record<string, unknown>>;

export function parseJsonObject(text: string): JsonObject {
  return asObject(JSON.parse(text));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object's members; nothing where it is no object. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The members of a line that is a JSON object; nothing of any other. */
export function fieldsOfLine(line: string): JsonObject {
  if (!line.startsWith("{")) return {};
  try {
    return parseJsonObject(line);
  } catch {
    return {};
  }
}
