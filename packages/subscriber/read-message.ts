import { type Fields, isFields, problemOf } from "./check-value.ts";
import { attributes, checks } from "./checks.ts";
import type { Attributes, Message, MessageOf, MessageType } from "./contract.ts";

/** A message of a type that this release does not know. */
export type UnknownMessage = Attributes & { readonly type: string; readonly data?: unknown };

export type ReadMessage =
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "unknown"; readonly message: UnknownMessage }
  /** The reason names a field and quotes nothing. */
  | { readonly type: "unreadable"; readonly reason: string };

/**
 * Parses a message. Fields that are not known are kept.
 * @returns `unreadable` if the text breaks the contract; never throws
 */
export function readMessage(text: string): ReadMessage {
  const value = parse(text);
  if (!isFields(value)) return { type: "unreadable", reason: "the message is no JSON object" };
  const reason = problemOfMessage(value);
  if (reason !== undefined) return { type: "unreadable", reason };
  if (isMessage(value)) {
    if (value.type === "data.updated") keepContent(value, text);
    return { type: "message", message: value };
  }
  if (isUnknownMessage(value)) return { type: "unknown", message: value };
  return { type: "unreadable", reason: "type: expected a text" };
}

type DocumentReference = NonNullable<MessageOf<"data.updated">["data"]["document"]>;

const contents = new WeakMap<DocumentReference, string>();

/** The text of a document in a message, with every digit. If that text is lost, the parsed content as JSON. */
export function contentOf(document: DocumentReference): string | undefined {
  return contents.get(document) ?? JSON.stringify(document.content);
}

/** Cuts the content out of the message's text; the pipeline writes it last. The document's digest verifies it. */
function keepContent({ data: { document } }: MessageOf<"data.updated">, text: string): void {
  const [, content] = /"content":(.*)\}\s*\}\s*\}\s*$/s.exec(text) ?? [];
  if (document?.content !== undefined && content !== undefined) contents.set(document, content);
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
