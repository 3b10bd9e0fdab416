import { jsonIn, present } from "../core/parse.ts";
import { forQueues, jsonText, plainJson } from "../event/json.ts";
import { keyPart, type Subject } from "../event/subjects.ts";
import type { DataName, DateRange, Document } from "../fetch/document.ts";
import type { DataOf, Message } from "./message-schemas.ts";

/**
 * Serializes a message with the document's content inside. The content is inserted as text, so that every
 * digit is kept.
 * @param text the document
 * @returns undefined if the message reports no document or the text is not JSON
 */
export function withContent(message: Message, text: string): string | undefined {
  if (message.type !== "data.updated" || message.data.document === undefined || jsonIn(text) === undefined)
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

/**
 * A reference to a document's current version; undefined if the provider has none.
 * Its URL is permanent, and names exactly this version.
 * @param documentsUrl base URL of the read API, with a trailing slash
 */
export function referenceOf(document: Document, documentsUrl: string): DataOf<"data.updated">["document"] {
  const { subject, range, digest, announced, size, contentType = plainJson } = document;
  if (digest === undefined || announced === undefined || size === undefined) return undefined;
  return {
    href: `${hrefOfDocument(subject, document, documentsUrl)}?version=${announced}`,
    sha256: digest,
    size,
    contentType,
    version: String(announced),
    observedAt: new Date(announced).toISOString(),
    ...(range && { range }),
  };
}

/** The URL of a document's newest version. */
export function hrefOfDocument(
  subject: Subject,
  { endpoint, range }: DataName,
  documentsUrl: string,
): string {
  const parts = [keyPart(endpoint), ...(range === undefined ? [] : [`${range.start}..${range.end}`])];
  return `${hrefOfSubject(subject, documentsUrl)}/documents/${parts.map(encodeURIComponent).join("/")}`;
}

export function hrefOfSubject({ kind, id }: Subject, documentsUrl: string): string {
  return `${documentsUrl}v1/${collections[kind]}/${encodeURIComponent(keyPart(id))}`;
}

/**
 * A message as sent to a subscriber. If documents are read by invoking a function, the URL contains the
 * subscriber's alias.
 */
export function addressedTo(message: Message, subscriber: string): Message {
  if (message.type !== "data.updated" || message.data.document === undefined) return message;
  const { document } = message.data;
  const href = document.href.replace(/^arn:[^/]+/, (functionArn) => `${functionArn}:${subscriber}`);
  return { ...message, data: { ...message.data, document: { ...document, href } } };
}

/** The fields that name a document in messages. */
export function nameFields({ endpoint, range }: DataName): {
  readonly endpoint: string;
  readonly dateStart?: string;
  readonly dateEnd?: string;
} {
  return { endpoint, ...datesOf(range) };
}

export function datesOf(range: DateRange | undefined) {
  return present<{ readonly dateStart?: string; readonly dateEnd?: string }>({
    dateStart: range?.start,
    dateEnd: range?.end,
  });
}

/** URI prefix of documents that are available only in messages. It names them, but does not resolve. */
export const unreadDocuments = "urn:income-events:documents/";

/** The API's collections by kind of subject. */
export const collections = {
  user: "users",
  account: "accounts",
  "company-account": "company-accounts",
} as const satisfies Record<Subject["kind"], string>;
