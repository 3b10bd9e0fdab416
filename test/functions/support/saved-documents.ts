import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import {
  contentOf,
  contentOfDocument,
  documentStore,
  versionKeeper,
} from "../../../adapters/dynamodb/documents.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import { type DataName, documentAfter } from "../../../domain/fetch/document.ts";
import type { TestSystem } from "../../support/engines.ts";

/** A call for a document, by default a moment after the last one, for the data of `income`. */
type SavedCall = {
  readonly asOf?: number;
  readonly name?: DataName;
  readonly userId?: string;
  /** Time since which the call's first task wanted the document. */
  readonly readFor?: number;
  /** Days for which a superseded version is retained; absent: not at all. */
  readonly retainDays?: number | undefined;
};

type Named = { readonly name: string };

/** The documents of a table, as calls to the provider leave them. */
export function savedDocuments(
  { dynamodb, s3 }: Pick<TestSystem, "dynamodb" | "s3">,
  table: Named,
  bucket: Named,
) {
  const read = batchingReader(dynamodb, table.name);
  const write = batchingWriter(dynamodb, table.name);
  const overflow = overflowBucket(bucket.name, s3);
  const income = { endpoint: "income" };
  const load = (subject: Subject, name: DataName = income) =>
    documentStore(read, write, overflow).load(subject, name);
  return {
    load,
    /**
     * Saves a document as a call left it.
     * @param text undefined: the provider had no data
     */
    save: async (
      subject: Subject,
      text: string | undefined,
      { asOf, name = income, userId, readFor, retainDays }: SavedCall = {},
    ): Promise<void> => {
      const known = await load(subject, name);
      const content = text === undefined ? undefined : contentOf(text);
      const found = content && { digest: content.digest, size: Buffer.byteLength(text ?? "") };
      const task = { subject, ...name, ...(userId !== undefined && { userId }) };
      const call = { asOf: asOf ?? (known?.document.asOf ?? 0) + 1, by: [], task, readFor };
      const retain = retainDays === undefined ? undefined : versionKeeper(read, write, retainDays);
      const next = documentAfter(known?.document, call, found);
      if ((await documentStore(read, write, overflow, retain).save(known, next, content)) === "conflict")
        throw new Error("another write was faster");
    },
    /** The stored text; undefined if there is none. */
    content: async (subject: Subject, name: DataName = income): Promise<string | undefined> => {
      const known = await load(subject, name);
      const content = known && (await contentOfDocument(known, overflow));
      return content && Buffer.concat(content.parts).toString();
    },
  };
}
