import type { RequestContext } from "../iam/evaluate.ts";
import type { Service } from "./types.ts";

export type Need = {
  readonly action: string;
  readonly resource: string;
  readonly context?: RequestContext;
};

export type Operation = {
  readonly service: Service;
  /** For example `sqs:SendMessageBatch`. */
  readonly action: string;
  /** Every need must be allowed. */
  readonly needs: readonly Need[];
  /** Body for the engine, if it differs from the caller's. */
  readonly body?: string;
  /** Transforms the engine's successful answer for the caller. */
  readonly rewriteAnswer?: (body: string) => string;
};

/** A request that the gateway does not understand; refused with 403 and recorded. */
export class UnknownOperationError extends Error {
  override readonly name = "UnknownOperationError";
  readonly action: string;

  /** @param what the unsupported part, and what is supported instead */
  constructor(action: string, what: string) {
    super(`The local gateway does not know ${what}`);
    this.action = action;
  }
}

/** @throws UnknownOperationError for an operation or input outside the supported ones */
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

export type Place = { readonly region: string; readonly account: string };

export type JsonObject = Readonly<Record<string, unknown>>;

export function parseJsonObject(text: string): JsonObject {
  return asObject(JSON.parse(text));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an object's members; empty if the value is not an object. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns a list's elements; empty if the value is not a list. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the members of a line that is a JSON object; empty for any other line. */
export function fieldsOfLine(line: string): JsonObject {
  if (!line.startsWith("{")) return {};
  try {
    return parseJsonObject(line);
  } catch {
    return {};
  }
}
