import type { DocumentPage } from "../../adapters/dynamodb/document-scan.ts";
import type { ReadDocuments, StoredDocument } from "../../adapters/dynamodb/documents.ts";
import type { Partitions } from "../../adapters/dynamodb/partitions.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { nameFields, referenceOf } from "../../domain/message/document-reference.ts";
import { unknownSubject } from "../core/flags.ts";
import type { OnScanned } from "../core/scan-consent.ts";
import { tableText } from "../core/table.ts";
import { type DocumentFilter, selects } from "./document-filter.ts";

export type DocumentQuery = {
  /** Whose documents; absent: anybody's, which reads the whole table. */
  readonly subject?: Subject;
  readonly filter: DocumentFilter;
  /** The most that are listed. */
  readonly limit: number;
};

export type DocumentListPorts = {
  readonly partitions: Pick<Partitions, "accountsOf" | "isKnown">;
  readonly readDocuments: ReadDocuments;
  readonly scan: () => AsyncIterable<DocumentPage>;
  readonly onScanned: OnScanned;
};

/** Lists documents, those that changed last first. @throws CommandError where nothing is known of the subject */
export async function listDocuments(
  { subject, filter, limit }: DocumentQuery,
  ports: DocumentListPorts,
): Promise<readonly StoredDocument[]> {
  if (subject !== undefined) {
    const found = await documentsOf(subject, ports);
    return newestFirst(found.filter(({ document }) => selects(filter, document))).slice(0, limit);
  }
  let [read, count] = [0, 0];
  let kept: readonly StoredDocument[] = [];
  for await (const { documents, examined } of ports.scan()) {
    const selected = documents.filter(({ document }) => selects(filter, document));
    kept = newestFirst([...kept, ...selected]).slice(0, limit);
    read += examined;
    count += selected.length;
    ports.onScanned(read, count);
  }
  return kept;
}

/** A user's are those of its accounts. */
async function documentsOf(
  subject: Subject,
  { partitions, readDocuments }: DocumentListPorts,
): Promise<readonly StoredDocument[]> {
  const accounts = subject.kind === "user" ? await partitions.accountsOf(subject.id) : [];
  const subjects = [subject, ...accounts.map((id): Subject => ({ kind: "account", id }))];
  const found = (await Promise.all(subjects.map(readDocuments))).flat();
  if (found.length === 0 && !(await partitions.isKnown(subject))) throw unknownSubject(subject);
  return found;
}

function newestFirst(documents: readonly StoredDocument[]): readonly StoredDocument[] {
  return documents.toSorted(
    ({ document: one }, { document: other }) => (other.announced ?? 0) - (one.announced ?? 0),
  );
}

/** A document as the read API lists it, for programs. @param documentsUrl the read API's, with a slash at its end */
export function describeDocument({ document }: StoredDocument, documentsUrl: string): object {
  return {
    subject: nameOf(document.subject),
    ...nameFields(document),
    ...referenceOf(document, documentsUrl),
  };
}

const head = ["SUBJECT", "ENDPOINT", "DATES", "CHANGED", "VERSION", "BYTES", "SHA-256"];

/** Documents for people. */
export function documentsText(documents: readonly StoredDocument[]): string {
  const rows = documents.map(({ document: { subject, endpoint, range, announced = 0, size, digest } }) => {
    const dates = range && `${range.start}..${range.end}`;
    const changed = new Date(announced).toISOString();
    return [nameOf(subject), endpoint, dates, changed, String(announced), size, digest?.slice(0, 12)];
  });
  return rows.length === 0 ? "There is no such document." : tableText(head, rows);
}
