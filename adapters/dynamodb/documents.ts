import { type DynamoDBClient, paginateQuery } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { permanent } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, optionalText, present } from "../../domain/core/parse.ts";
import { decodeText, mediaTypeOf } from "../../domain/core/text-encoding.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { plainJson } from "../../domain/fetch/answer.ts";
import { type Document, type DocumentStorage, parseDocument } from "../../domain/fetch/document.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import { compress, digestOf, expand, type Parts, sizeOf } from "../aws/compressed.ts";
import type { OverflowBucket } from "../s3/overflow-bucket.ts";
import type { ReadKey } from "./batching-reader.ts";
import type { WriteItem } from "./batching-writer.ts";
import { itemVersion, readItem } from "./items.ts";
import { documentKey, documentPrefix, partitionOf } from "./keys.ts";
import { noteSuperseded } from "./superseded-objects.ts";

/** The provider's data, byte for byte, so that numbers keep their digits. `digest`: see `digestOf`. */
export type Content = { readonly parts: Parts; readonly digest: string; readonly contentType: string };

/** @param text in UTF-8 */
export function contentOf(text: string | Parts, contentType = plainJson): Content {
  const parts = typeof text === "string" ? [Buffer.from(text)] : text;
  return { parts, digest: digestOf(parts), contentType };
}

/** Decodes data by the charset of its content type. @throws permanent failure if it is not in that charset */
export function textOfContent(parts: Parts, contentType = plainJson): string {
  const text = decodeText(Buffer.concat(parts), mediaTypeOf(contentType)?.charset);
  if (text === undefined) throw permanent("the data is not in its charset");
  return text;
}

/** A document and where its data is stored. */
export type StoredDocument = { readonly document: Document; readonly storage: DocumentStorage };

/**
 * Maximum compressed size of data that is stored in the item itself; larger data goes to S3. DynamoDB bills a write
 * by the kilobyte and S3 by the request: at about this size they cost the same.
 */
const inlineLimitInBytes = 6_144;

/** Stores documents, one item each; large data goes to S3. */
export type DocumentStore = {
  /** Reads consistently; concurrent reads share a request. */
  readonly load: (subject: Subject, name: DataName) => Promise<StoredDocument | undefined>;
  /**
   * Writes a document if it is still as `stored`.
   * @param content undefined if the provider has none
   * @param untilReady awaited once the data is stored, so that concurrent writes share a request
   */
  readonly save: (
    stored: StoredDocument | undefined,
    updated: Document,
    content: Content | undefined,
    untilReady?: () => Promise<void>,
  ) => Promise<"written" | "conflict">;
};

/**
 * @param retainVersion stores the version that is about to be superseded; absent: only the newest version is retained.
 * It runs before the new version is written, so that a retry after a crash repeats it.
 */
export function documentStore(
  read: ReadKey,
  write: WriteItem,
  overflow: OverflowBucket,
  retainVersion?: (superseded: StoredDocument, updated: Document) => Promise<void>,
): DocumentStore {
  return {
    load: async (subject, name) => {
      const item = await read(documentKey(subject, name));
      return item && readDocument(item);
    },
    save: async (stored, updated, content, untilReady) => {
      const isSame = stored?.document.digest === updated.digest;
      const storage = isSame ? stored?.storage : content && (await storeContent(content, updated, overflow));
      const key = documentKey(updated.subject, updated);
      const document = { ...updated, ...storage };
      await untilReady?.();
      if (!isSame && stored?.document.digest !== undefined)
        await Promise.all([noteSuperseded(write, stored, updated), retainVersion?.(stored, updated)]);
      return write(
        stored === undefined
          ? { type: "insert", key, attributes: { schemaVersion: itemVersion, document } }
          : {
              type: "update",
              key,
              attribute: "document",
              value: document,
              where: [{ path: ["document", "asOf"], operator: "=", value: stored.document.asOf }],
            },
      );
    },
  };
}

/**
 * Large data is stored under its subject's name, where an erasure finds it. The object's name contains `announced`
 * and the digest, so writers never overwrite each other's data and the loser of a race deletes nothing.
 */
async function storeContent(
  { parts, digest }: Content,
  document: Document,
  overflow: OverflowBucket,
): Promise<DocumentStorage> {
  const compressed = await compress(parts);
  if (compressed.byteLength <= inlineLimitInBytes) {
    const isSmaller = compressed.byteLength < sizeOf(parts);
    return isSmaller
      ? { codec: "gzip", content: compressed }
      : { codec: "identity", content: Buffer.concat(parts) };
  }
  const { subject, asOf, announced = asOf } = document;
  const object = `data/${nameOf(subject)}/${nameOfData(document, "/")}/${announced}.${digest}.json.gz`;
  await overflow.put(object, compressed);
  return { codec: "gzip", object, objectDigest: digestOf([compressed]) };
}

export function readDocument(item: Fields): StoredDocument {
  const fields = fieldsOf(item.document, "document");
  return { document: parseDocument(fields), storage: readStorage(fields) };
}

/** @param fields of a document. @throws permanent failure naming the field */
export function readStorage(fields: Fields): DocumentStorage {
  const { content } = fields;
  return present<DocumentStorage>({
    codec: codecOf(optionalText(fields, "codec")),
    content: content instanceof Uint8Array ? content : undefined,
    object: optionalText(fields, "object"),
    objectDigest: optionalText(fields, "objectDigest"),
  });
}

function codecOf(name: string | undefined): DocumentStorage["codec"] {
  if (name === undefined || name === "gzip" || name === "identity") return name;
  throw permanent("document.codec: expected gzip or identity");
}

/** Reads all documents of a subject; each range of dates is a document of its own. */
export type ReadDocuments = (subject: Subject) => Promise<readonly StoredDocument[]>;

export function documentReader(client: DynamoDBClient, TableName: string): ReadDocuments {
  return async (subject) => {
    const query = {
      TableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: marshall({ ":pk": partitionOf(subject), ":prefix": documentPrefix }),
      ConsistentRead: true,
    };
    const found: StoredDocument[] = [];
    for await (const { Items = [] } of paginateQuery({ client }, query)) {
      found.push(...Items.map((item) => readDocument(readItem(item))));
    }
    return found;
  };
}

/**
 * Reads a document's data from its item or from S3.
 * @returns undefined if the provider has no data
 * @throws permanent failure if the data does not match its digest
 */
export async function contentOfDocument(
  {
    document,
    storage,
  }: { readonly document: Pick<Document, "digest" | "contentType">; readonly storage: DocumentStorage },
  overflow: Pick<OverflowBucket, "get">,
): Promise<Content | undefined> {
  if (document.digest === undefined) return undefined;
  const bytes =
    storage.object === undefined ? (storage.content ?? new Uint8Array()) : await overflow.get(storage.object);
  const content = contentOf([storage.codec === "gzip" ? await expand(bytes) : bytes], document.contentType);
  if (content.digest !== document.digest) throw permanent("the data is another than was stored");
  return content;
}
