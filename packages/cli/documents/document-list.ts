import { documentVersions } from "../../../adapters/dynamodb/document-versions.ts";
import { documentReader, type StoredDocument } from "../../../adapters/dynamodb/documents.ts";
import { partitions } from "../../../adapters/dynamodb/event-table.ts";
import type { Key } from "../../../adapters/dynamodb/keys.ts";
import { type DocumentPage, scanDocuments } from "../../../adapters/dynamodb/table-scan.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { present } from "../../../domain/core/parse.ts";
import { endpointName } from "../../../domain/event/events.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type Document, nameOfData } from "../../../domain/fetch/document.ts";
import { nameFields, referenceOf } from "../../../domain/message/document-reference.ts";
import type { Place } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";
import { periodFlags, type TextFlags, unknownSubject } from "../core/flags.ts";
import { type OnScanned, scanFor } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { compareTexts, isoTime } from "../core/text.ts";
import { accountsOf } from "../records/known-records.ts";

export type DocumentQuery = {
  /** The subject whose documents to list; if undefined, the whole table is read. */
  readonly subject?: Subject;
  readonly filter: DocumentFilter;
  readonly limit: number;
};

export type DocumentPorts = ReturnType<typeof documentPorts>;

/** Reads a stage's documents, with the retained versions. */
export function documentPorts({ deployment, clients }: Place, now: () => Date) {
  const [{ dynamodb }, table] = [clients, deployment.output("TableName")];
  return {
    partitions: partitions(dynamodb, table),
    readDocuments: documentReader(dynamodb, table),
    versions: documentVersions(dynamodb, table, now),
    overflow: overflowBucket(deployment.output("OverflowBucketName"), clients.s3),
    scan: (after?: Key) => scanDocuments(dynamodb, table, after),
  };
}

/** A document, or a superseded version. */
export type ListedDocument = StoredDocument & { readonly supersededAt?: number };

/**
 * Lists documents, the latest changes first; for one subject, with the stored versions.
 * @throws CommandError if the subject is unknown
 */
export async function listDocuments(
  { subject, filter, limit }: DocumentQuery,
  ports: Omit<DocumentPorts, "overflow">,
  onScanned: OnScanned = () => undefined,
): Promise<readonly ListedDocument[]> {
  const isSelected = ({ document }: ListedDocument) => selects(filter, document);
  const newest = (found: readonly ListedDocument[]) => newestFirst(found).slice(0, limit);
  if (subject !== undefined) return newest((await documentsOf(subject, ports)).filter(isSelected));
  const select = ({ documents }: DocumentPage): readonly ListedDocument[] => documents.filter(isSelected);
  return scanFor(ports.scan(), select, onScanned, newest);
}

/**
 * All documents of a subject; a user's include those of its accounts. @throws CommandError if the subject is
 * unknown
 */
export async function documentsOf(
  subject: Subject,
  { partitions, readDocuments, versions }: Pick<DocumentPorts, "partitions" | "readDocuments" | "versions">,
): Promise<readonly ListedDocument[]> {
  const subjects = [subject, ...(await accountsOf(subject, partitions))];
  const withVersions = async (each: Subject): Promise<readonly ListedDocument[]> => {
    const [documents, kept] = await Promise.all([readDocuments(each), versions.all(each)]);
    // A version is stored before it is superseded, so it can occur twice.
    const present = new Set(documents.map(({ document }) => versionName(document)));
    return [...documents, ...kept.filter(({ document }) => !present.has(versionName(document)))];
  };
  const found = (await Promise.all(subjects.map(withVersions))).flat();
  if (found.length === 0 && !(await partitions.isKnown(subject))) throw unknownSubject(subject);
  return found;
}

function versionName(document: Document): string {
  return `${nameOfData(document, "/")} ${document.announced}`;
}

function newestFirst(documents: readonly ListedDocument[]): readonly ListedDocument[] {
  return documents.toSorted(
    ({ document: one }, { document: other }) => (other.announced ?? 0) - (one.announced ?? 0),
  );
}

/** A document as the read API lists it. @param documentsUrl the read API's address, ending with a slash */
export function describeDocument({ document, supersededAt }: ListedDocument, documentsUrl: string): object {
  return {
    subject: nameOf(document.subject),
    ...nameFields(document),
    ...referenceOf(document, documentsUrl),
    ...(supersededAt !== undefined && { supersededAt: new Date(supersededAt).toISOString() }),
  };
}

const head = ["SUBJECT", "ENDPOINT", "DATES", "CHANGED", "VERSION", "BYTES", "SHA-256", "SUPERSEDED"];

export function documentsText(documents: readonly ListedDocument[]): string {
  const rows = documents.map(({ document, supersededAt }) => {
    const { subject, endpoint, range, announced = 0, size, digest } = document;
    const dates = range && `${range.start}..${range.end}`;
    const changed = new Date(announced).toISOString();
    const superseded = supersededAt === undefined ? undefined : new Date(supersededAt).toISOString();
    const version = [String(announced), size, digest?.slice(0, 12), superseded];
    return [nameOf(subject), endpoint, dates, changed, ...version];
  });
  return tableText(head, rows, "No documents found.");
}

/** A filter of documents. Times are in milliseconds since 1970. */
export type DocumentFilter = {
  readonly endpoint?: string;
  /** Documents whose data changed since then. */
  readonly since?: number;
  readonly until?: number;
};

export type FilterFlags = TextFlags<"endpoint" | "since" | "until">;

/** @throws CommandError naming the flag */
export function filterFlags({ endpoint, ...period }: FilterFlags, now: Date): DocumentFilter {
  if (endpoint !== undefined && !endpointName.test(endpoint))
    throw CommandError.usage(
      `--endpoint ${JSON.stringify(endpoint)} is not the name of an endpoint. Write for example income.`,
    );
  const { since, until } = periodFlags(period, now);
  return present<DocumentFilter>({
    endpoint,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  });
}

/** Whether a document matches. One without data at the provider does not. */
export function selects(
  { endpoint, since = 0, until = Infinity }: DocumentFilter,
  document: Document,
): boolean {
  const { digest, announced } = document;
  if (digest === undefined || announced === undefined) return false;
  return (
    (endpoint === undefined || document.endpoint === endpoint) && announced >= since && announced < until
  );
}

/** A document with all stored versions, the newest first. It is gone if the provider has no data, or none yet. */
export type DocumentHistory = ReturnType<typeof historyOf>;

/**
 * The documents of a subject, by endpoint; a user's include those of its accounts. @throws CommandError if
 * the subject is unknown
 */
export async function documentHistory(
  subject: Subject,
  ports: Pick<DocumentPorts, "partitions" | "readDocuments" | "versions">,
): Promise<readonly DocumentHistory[]> {
  const all = await documentsOf(subject, ports);
  return all
    .filter(({ supersededAt }) => supersededAt === undefined)
    .map(({ document }) => historyOf(document, all))
    .toSorted((one, other) => compareTexts(sortNameOf(one), sortNameOf(other)));
}

function historyOf(newest: Document, all: readonly ListedDocument[]) {
  const { subject, endpoint, range, asOf, digest } = newest;
  const versions = all.filter(
    ({ document }) => document.digest !== undefined && isSameDocument(document, newest),
  );
  return {
    ...{ subject, endpoint, asOf: isoTime(asOf), isGone: digest === undefined },
    ...present({ dates: range && `${range.start}..${range.end}` }),
    versions: newestFirst(versions).map(({ document: { announced = 0, size }, supersededAt }) => ({
      ...{ version: String(announced), observedAt: isoTime(announced) },
      ...present({ bytes: size }),
      ...(supersededAt !== undefined && { supersededAt: isoTime(supersededAt) }),
    })),
  };
}

/** Whether both are versions of one document. */
function isSameDocument(one: Document, other: Document): boolean {
  return nameOf(one.subject) === nameOf(other.subject) && nameOfData(one, "/") === nameOfData(other, "/");
}

function sortNameOf({ endpoint, dates = "", subject }: DocumentHistory): string {
  return JSON.stringify([endpoint, dates, subject.id]);
}
