import { forQueues, jsonText } from "../event/json-text.ts";
import type { Message } from "./message-schemas.ts";

/**
 * A message that reports a document, as JSON with the document in it: cut in as text, so that every digit stays.
 * @param text the document
 * @returns undefined where the message reports none, or the text is no JSON
 */
export function withContent(message: Message, text: string): string | undefined {
  if (message.type !== "data.updated" || message.data.document === undefined || !isJson(text))
    return undefined;
  const { data, ...attributes } = message;
  const { document, ...others } = data;
  const inner = endedBy({ ...document }, "content", forQueues(text));
  return endedBy(attributes, "data", endedBy(others, "document", inner));
}

/** An object as JSON, with one more field behind the others. @param value JSON */
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
