import { type DocumentVersions, supersededVersion } from "../../../adapters/dynamodb/document-versions.ts";
import {
  contentOfDocument,
  type ReadDocuments,
  type StoredDocument,
} from "../../../adapters/dynamodb/documents.ts";
import type { Partitions } from "../../../adapters/dynamodb/partitions.ts";
import type { OverflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import { nameOf, type Subject } from "../../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../../domain/fetch/document.ts";
import { isWanted, type VersionWanted } from "../../../domain/read/route.ts";
import { CommandError } from "../core/command-error.ts";
import { unknownSubject } from "../core/flags.ts";

export type DocumentGetPorts = {
  readonly partitions: Pick<Partitions, "isKnown">;
  readonly readDocuments: ReadDocuments;
  readonly versions: DocumentVersions;
  readonly overflow: Pick<OverflowBucket, "get">;
};

/**
 * @param wanted a version, or a time at which it was current; empty: the newest
 * @throws CommandError if the document or the version does not exist, naming the existing versions
 */
export async function findDocument(
  subject: Subject,
  name: DataName,
  wanted: VersionWanted,
  { partitions, readDocuments, versions }: DocumentGetPorts,
): Promise<StoredDocument> {
  const title = nameOfData(name, "/");
  const all = await readDocuments(subject);
  const newest = all.find(({ document }) => nameOfData(document, "/") === title);
  const withData = all.filter(({ document }) => document.digest !== undefined);
  if (newest?.document.announced !== undefined && isWanted(wanted, newest.document.announced)) {
    if (newest.document.digest !== undefined) return newest;
  } else {
    const version = await supersededVersion(versions, { subject, name }, wanted);
    if (version !== undefined) return version;
    if (newest !== undefined) throw await notKept(subject, name, newest, versions);
  }
  if (withData.length === 0 && !(await partitions.isKnown(subject))) throw unknownSubject(subject);
  const known = withData.map(({ document }) => nameOfData(document, "/")).join(", ") || "none";
  throw CommandError.usage(`${nameOf(subject)} has no document ${title}; it has: ${known}.`);
}

async function notKept(
  subject: Subject,
  name: DataName,
  newest: StoredDocument,
  versions: DocumentVersions,
): Promise<CommandError> {
  const kept = (await versions.all(subject, name)).filter(
    ({ document }) => document.announced !== newest.document.announced,
  );
  const known = [newest, ...kept].flatMap(({ document: { announced, digest } }) =>
    announced === undefined || digest === undefined
      ? []
      : [`${announced} (${new Date(announced).toISOString()})`],
  );
  return CommandError.usage(
    `This version of ${nameOfData(name, "/")} is not retained. Retained: ${known.join(", ") || "none"}. See retention.documentVersionsDays.`,
  );
}

/** The provider's bytes. @throws permanent failure if their digest differs */
export async function bytesOf(
  stored: StoredDocument,
  { overflow }: Pick<DocumentGetPorts, "overflow">,
): Promise<Uint8Array> {
  const content = await contentOfDocument(stored, overflow);
  return Buffer.concat(content?.parts ?? []);
}
