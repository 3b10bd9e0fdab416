import { fieldsOf, numberOf, optionalText, present, textsOf } from "../core/parse.ts";
import { parseSubject, type Subject } from "../event/subjects.ts";
import { plainJson } from "./answer.ts";
import { type DataName, parseDataName } from "./document-name.ts";
import { type DocumentVersion, versionAfter } from "./document-version.ts";
import type { DocumentTask } from "./task.ts";

/**
 * What is known of one document of a subject: an endpoint's data, all of it or of a range of dates. It is written at each
 * call, also where nothing changed and where the provider has none. The data itself lies beside it.
 */
export type Document = DataName &
  DocumentVersion & {
    readonly subject: Subject;
    /** Whose the subject is, as the last task that named somebody said: whoever erases the subject finds its events there. */
    readonly userId?: string;
    /** Bytes that the provider gave; absent where it has none. */
    readonly size?: number;
    /** As messages have it; absent: `application/json`. */
    readonly contentType?: string;
    /** Whether the last write changed the data, so that subscribers are notified. */
    readonly news: boolean;
    /** Of what led to the call that changed the data. */
    readonly correlationId?: string;
    /** The latest `since` of the tasks that it was read for; kept where the stage has `readiness`. */
    readonly readFor?: number;
    /** How many days the data covers, where `readiness.minDays` asks for it. */
    readonly days?: number;
  };

/** Where a document's data lies, and how it is written there; neither place where the provider has none. */
export type DocumentPlace = {
  readonly codec?: "gzip" | "identity";
  readonly content?: Uint8Array;
  /** The key of an object. */
  readonly object?: string;
  /** SHA-256 of the object's bytes, in lower-case hex. */
  readonly objectDigest?: string;
};

/** An object with the data of one version, as an item tells that points to it. */
export type SupersededObject = {
  readonly subject: Subject;
  readonly name: DataName;
  readonly announced: number;
  readonly object: string;
};

/** What a call found: SHA-256 of the provider's bytes in lower-case hex, and how many; undefined where it has none. */
export type Found =
  | { readonly digest: string; readonly size: number; readonly contentType?: string }
  | undefined;

/** A call as of when the provider was asked, for which messages, and for which of the tasks first. */
export type DocumentCall = {
  readonly asOf: number;
  readonly by: readonly string[];
  readonly task: DocumentTask;
  readonly readFor?: number | undefined;
};

/** @param days that the data covers */
export function documentAfter(
  known: Document | undefined,
  call: DocumentCall,
  found: Found,
  days?: number,
): Document {
  const { subject, endpoint, range, correlationId, userId } = call.task;
  const version = versionAfter(known, call, found?.digest);
  return present<Document>({
    subject,
    userId: userId ?? known?.userId,
    endpoint,
    range,
    asOf: version.asOf,
    by: version.by,
    digest: version.digest,
    announced: version.announced,
    news: version.news,
    size: found?.size,
    contentType: found?.contentType === plainJson ? undefined : found?.contentType,
    correlationId: version.news ? correlationId : known?.correlationId,
    readFor: latestOf(call.readFor, known?.readFor),
    days,
  });
}

function latestOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** @throws permanent failure naming the field */
export function parseDocument(value: unknown): Document {
  const fields = fieldsOf(value, "document");
  const optionalNumber = (name: string) => (fields[name] === undefined ? undefined : numberOf(fields, name));
  return present<Document>({
    subject: parseSubject(fields.subject),
    userId: optionalText(fields, "userId"),
    ...parseDataName(fields),
    asOf: numberOf(fields, "asOf"),
    by: textsOf(fields, "by"),
    digest: optionalText(fields, "digest"),
    announced: optionalNumber("announced"),
    news: fields.news === true,
    size: optionalNumber("size"),
    contentType: optionalText(fields, "contentType"),
    correlationId: optionalText(fields, "correlationId"),
    readFor: optionalNumber("readFor"),
    days: optionalNumber("days"),
  });
}
