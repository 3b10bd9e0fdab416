import { forQueues, jsonText } from "../event/json-text.ts";
import type { Message } from "./message-schemas.ts";

/**
 * Serializes a message with the document's content inside. The content is inserted as text, so that every
 * digit is kept.
 * @param text the document
 * @returns undefined if the message reports no document or the text is not JSON
 */
export function withContent(message: Message, text: string): string | undefined {
  if (message.type !== "data.updated" || message.data.document === undefined || !isJson(text))
    return undefined;
  const { data, ...attributes } = message;
  const { document, ...others } = data;
  const inner = endedBy({ ...document }, "content", forQueues(text));
  return endedBy(attributes, "data", endedBy(others, "document", inner));
}

/** Serializes an object with one more field at the end. @param value JSON */
export function endedBy(fields: object, name: string, value: string): string {
  return `${jsonText(fields).slice(0, -1)},"${name}":${value}}`;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
