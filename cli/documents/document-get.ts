import {
  contentOfDocument,
  type ReadDocuments,
  type StoredDocument,
} from "../../adapters/dynamodb/documents.ts";
import type { Partitions } from "../../adapters/dynamodb/partitions.ts";
import type { OverflowBucket } from "../../adapters/s3/overflow-bucket.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import { CommandError } from "../core/command-error.ts";
import { unknownSubject } from "../core/flags.ts";

export type DocumentGetPorts = {
  readonly partitions: Pick<Partitions, "isKnown">;
  readonly readDocuments: ReadDocuments;
  readonly overflow: Pick<OverflowBucket, "get">;
};

/** @throws CommandError where there is no such document, which names those that are there */
export async function findDocument(
  subject: Subject,
  name: DataName,
  { partitions, readDocuments }: DocumentGetPorts,
): Promise<StoredDocument> {
  const wanted = nameOfData(name, "/");
  const withData = (await readDocuments(subject)).filter(({ document }) => document.digest !== undefined);
  const found = withData.find(({ document }) => nameOfData(document, "/") === wanted);
  if (found !== undefined) return found;
  if (withData.length === 0 && !(await partitions.isKnown(subject))) throw unknownSubject(subject);
  const known = withData.map(({ document }) => nameOfData(document, "/")).join(", ") || "none";
  throw new CommandError("usage", `${nameOf(subject)} has no document ${wanted}; it has: ${known}.`);
}

/** A document's bytes, as the provider gave them. @throws permanent failure where they are not what was stored */
export async function bytesOf(
  stored: StoredDocument,
  { overflow }: Pick<DocumentGetPorts, "overflow">,
): Promise<Uint8Array> {
  const content = await contentOfDocument(stored, overflow);
  return Buffer.concat(content?.parts ?? []);
}
