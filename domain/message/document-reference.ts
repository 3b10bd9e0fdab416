import { keyPart } from "../core/key-part.ts";
import { present } from "../core/parse.ts";
import type { Subject } from "../event/subjects.ts";
import { plainJson } from "../fetch/answer.ts";
import type { Document } from "../fetch/document.ts";
import type { DataName, DateRange } from "../fetch/document-name.ts";
import { collections } from "../read/route.ts";
import type { Message } from "./message-schemas.ts";

/** Which bytes a document has, and where they are read. */
export type DocumentReference = {
  /** Names exactly this version, for ever. */
  readonly href: string;
  /** Of the provider's bytes, in lower-case hex. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** `application/json` for JSON in UTF-8; else as the provider said. */
  readonly contentType: string;
  readonly version: string;
  /** ISO 8601. */
  readonly observedAt: string;
  /** The dates that the document covers, where its endpoint is read by ranges. Ranges may overlap. */
  readonly range?: DateRange;
};

/**
 * The present version of a document; undefined where the provider has none.
 * @param documentsUrl the read API's, with a slash at its end
 */
export function referenceOf(document: Document, documentsUrl: string): DocumentReference | undefined {
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

/** Where the newest version of a document is. */
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

/** A message as a subscriber gets it: where documents are read by invoking a function, by the alias of the subscriber. */
export function addressedTo(message: Message, subscriber: string): Message {
  if (message.type !== "data.updated" || message.data.document === undefined) return message;
  const { document } = message.data;
  const href = document.href.replace(/^arn:[^/]+/, (functionArn) => `${functionArn}:${subscriber}`);
  return { ...message, data: { ...message.data, document: { ...document, href } } };
}

/** A document's name as messages have it. */
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
