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

  constructor(action: string, message: string) {
    super(message);
    this.action = action;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function parseJsonObject(text: string): JsonObject {
  return asObject(JSON.parse(text));
}

/** An object's members; nothing where it is no object. */
export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}
