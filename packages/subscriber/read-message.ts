import { type Fields, isFields, problemOf } from "./check-value.ts";
import { attributes, checks } from "./checks.ts";
import type { Attributes, Message, MessageType } from "./contract.ts";

/** A message of a type that this release does not know: a later one sends it. */
export type UnknownMessage = Attributes & { readonly type: string; readonly data?: unknown };

export type ReadMessage =
  | { readonly as: "message"; readonly message: Message }
  | { readonly as: "unknown"; readonly message: UnknownMessage }
  /** The reason names a field and quotes nothing. */
  | { readonly as: "unreadable"; readonly reason: string };

/**
 * Reads the text of a subscriber's message. Fields that are not known stay where they are.
 * @returns `unreadable` for what breaks the contract; never throws
 */
export function readMessage(text: string): ReadMessage {
  const value = parse(text);
  if (!isFields(value)) return { as: "unreadable", reason: "the message is no JSON object" };
  const reason = problemOfMessage(value);
  if (reason !== undefined) return { as: "unreadable", reason };
  if (isMessage(value)) return { as: "message", message: value };
  if (isUnknownMessage(value)) return { as: "unknown", message: value };
  return { as: "unreadable", reason: "type: expected a text" };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMessage(value: Fields): value is Fields & Message {
  return isMessageType(value.type) && problemOfMessage(value) === undefined;
}

function isUnknownMessage(value: Fields): value is Fields & UnknownMessage {
  const { type } = value;
  return typeof type === "string" && type !== "" && problemOf(attributes, value) === undefined;
}

function isMessageType(type: unknown): type is MessageType {
  return typeof type === "string" && Object.hasOwn(checks, type);
}

function problemOfMessage(value: Fields): string | undefined {
  const problem = problemOf(attributes, value);
  if (problem !== undefined || !isMessageType(value.type)) return problem;
  return problemOf(checks[value.type].data, value.data, "data");
}
