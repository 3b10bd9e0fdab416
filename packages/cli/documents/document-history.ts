import { present } from "../../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type Document, nameOfData } from "../../../domain/fetch/document.ts";
import { type DocumentListPorts, documentsOf, type ListedDocument } from "./document-list.ts";

export type ListedVersion = {
  readonly version: string;
  /** When it became and stopped being the newest, ISO 8601. */
  readonly observedAt: string;
  readonly supersededAt?: string;
  readonly bytes?: number;
};

/** A document with all stored versions, the newest first. */
export type DocumentHistory = {
  readonly subject: Subject;
  readonly endpoint: string;
  /** `2026-01-01..2026-01-31`; undefined: without a range. */
  readonly dates?: string;
  /** The last time it was requested from the provider. */
  readonly asOf: string;
  /** Whether the provider has no data, or none yet. */
  readonly isGone: boolean;
  readonly versions: readonly ListedVersion[];
};

/**
 * The documents of a subject, by endpoint; a user's include those of its accounts. @throws CommandError if
 * the subject is unknown
 */
export async function documentHistory(
  subject: Subject,
  ports: Omit<DocumentListPorts, "scan" | "onScanned">,
): Promise<readonly DocumentHistory[]> {
  const all = await documentsOf(subject, ports);
  return all
    .filter(({ supersededAt }) => supersededAt === undefined)
    .map(({ document }) => historyOf(document, all))
    .toSorted((one, other) => compare(sortNameOf(one), sortNameOf(other)));
}

function historyOf(newest: Document, all: readonly ListedDocument[]): DocumentHistory {
  const { subject, endpoint, range, asOf, digest } = newest;
  const versions = all
    .filter(({ document }) => document.digest !== undefined && isSameDocument(document, newest))
    .toSorted(({ document: one }, { document: other }) => (other.announced ?? 0) - (one.announced ?? 0));
  return {
    ...{ subject, endpoint, asOf: isoTime(asOf), isGone: digest === undefined },
    ...present({ dates: range && `${range.start}..${range.end}` }),
    versions: versions.map(versionOf),
  };
}

function versionOf({ document: { announced = 0, size }, supersededAt }: ListedDocument): ListedVersion {
  const until = supersededAt === undefined ? undefined : isoTime(supersededAt);
  return {
    ...{ version: String(announced), observedAt: isoTime(announced) },
    ...present({ bytes: size, supersededAt: until }),
  };
}

/** Whether both are versions of one document. */
function isSameDocument(one: Document, other: Document): boolean {
  return nameOf(one.subject) === nameOf(other.subject) && nameOfData(one, "/") === nameOfData(other, "/");
}

function sortNameOf({ endpoint, dates = "", subject }: DocumentHistory): string {
  return JSON.stringify([endpoint, dates, subject.id]);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
