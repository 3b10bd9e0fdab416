import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { batchingReader, batchingWriter } from "../../../adapters/dynamodb/batching.ts";
import { contentOf, contentOfDocument, documentStore } from "../../../adapters/dynamodb/documents.ts";
import { documentKey } from "../../../adapters/dynamodb/keys.ts";
import { overflowBucket } from "../../../adapters/s3/overflow-bucket.ts";
import type { Subject } from "../../../domain/event/subjects.ts";
import type { DataName } from "../../../domain/fetch/document.ts";
import { documentRead } from "../../domain/samples.ts";
import type { TestBucket, TestSystem, TestTable } from "../../support/engines.ts";

/** Storage, subject and time of a test's documents. */
type Place = {
  readonly system: TestSystem;
  readonly table: Pick<TestTable, "name">;
  readonly bucket: TestBucket;
  readonly subject: Subject;
  readonly clock: Date;
};

const income = { endpoint: "income" };

/** The documents of a test's subject, as a fetch stores them. */
export function fetchedDocuments(place: () => Place) {
  const store = () => {
    const { system, table, bucket } = place();
    const read = batchingReader(system.dynamodb, table.name);
    return documentStore(read, batchingWriter(system.dynamodb, table.name), overflowBucket(bucket.name));
  };
  const load = (name: DataName) => store().load(place().subject, name);
  return {
    /**
     * Stores a document as a call left it.
     * @param secondsAgo time of the call
     */
    stored: async (text: string | undefined, secondsAgo: number, name: DataName = income): Promise<void> => {
      const { subject, clock } = place();
      const known = await load(name);
      const content = text === undefined ? undefined : contentOf(text);
      const call = { asOf: clock.getTime() - secondsAgo * 1000, subject, name };
      const next = documentRead(known?.document, content?.digest, call);
      if ((await store().save(known, next, content)) === "conflict")
        throw new Error("another write was faster");
    },
    document: async (name: DataName = income) => (await load(name))?.document,
    /** The stored text; undefined if there is none. */
    content: async (name: DataName = income): Promise<string | undefined> => {
      const known = await load(name);
      const content = known && (await contentOfDocument(known, overflowBucket(place().bucket.name)));
      return content && Buffer.concat(content.parts).toString();
    },
    /** Removes the stored document, as an erasure does. */
    removeDocument: async (name: DataName = income): Promise<void> => {
      const { system, table, subject } = place();
      const Key = marshall(documentKey(subject, name));
      await system.dynamodb.send(new DeleteItemCommand({ TableName: table.name, Key }));
    },
  };
}
