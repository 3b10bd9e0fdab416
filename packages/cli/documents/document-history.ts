import { present } from "../../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import type { Document } from "../../../domain/fetch/document.ts";
import { nameOfData } from "../../../domain/fetch/document-name.ts";
import { type DocumentListPorts, documentsOf, type ListedDocument } from "./document-list.ts";

/** One version of a document that can be read. */
export type ListedVersion = {
  readonly version: string;
  /** ISO 8601: since when, and until when, it was the newest. */
  readonly observedAt: string;
  readonly supersededAt?: string;
  readonly bytes?: number;
};

/** A document and all versions of it that are there, the newest first. */
export type DocumentHistory = {
  readonly subject: Subject;
  readonly endpoint: string;
  /** `2026-01-01..2026-01-31`; absent: all of it. */
  readonly dates?: string;
  /** When the provider was asked for it last. */
  readonly asOf: string;
  /** Whether the provider has none any more, or had none yet. */
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

/** Whether two are versions of one. */
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
