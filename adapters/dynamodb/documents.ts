import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { permanent, retryable } from "../../domain/core/failures.ts";
import { type Fields, fieldsOf, present } from "../../domain/core/parse.ts";
import { decodeText, mediaTypeOf, plainJson } from "../../domain/event/json.ts";
import { nameOf, type Subject, withUser } from "../../domain/event/subjects.ts";
import {
  type DataName,
  type Document,
  type DocumentStorage,
  expiryOf,
  nameOfData,
  parseDocument,
  parseStorage,
  type SupersededObject,
} from "../../domain/fetch/document.ts";
import { compress, digestOf, expand, type Parts, sizeOf } from "../aws/content.ts";
import type { ObjectBucket, OverflowBucket } from "../s3/overflow-bucket.ts";
import type { ReadKey, WriteItem } from "./batching.ts";
import { queryPartition } from "./event-table.ts";
import {
  documentKey,
  documentPrefix,
  holdKey,
  itemVersion,
  partitionOf,
  readItem,
  supersededKey,
  versionKey,
} from "./keys.ts";

/**
 * Days that the object of superseded data is kept. A restore can bring back a document from up to 35 days ago.
 * A list can be read for up to 14 days, as long as its message exists. It supersedes the document as of the read's
 * start.
 */
const objectDays = 35 + 14;

/**
 * Records how long to keep the object of superseded data, in an item whose expiry the stream announces.
 * @param next the version that supersedes it, not written yet
 */
export async function noteSuperseded(
  write: WriteItem,
  { document, storage: { object } }: { readonly document: Document; readonly storage: DocumentStorage },
  { announced: supersededAt }: Document,
): Promise<void> {
  const { subject, endpoint, range, announced } = document;
  if (object === undefined || announced === undefined || supersededAt === undefined) return;
  const key = supersededKey(subject, document, announced);
  const expiresAt = expiryOf(supersededAt, objectDays);
  const noted = present({ subject, endpoint, range, announced, object });
  const attributes = { schemaVersion: itemVersion, document: noted, expiresAt };
  if ((await write({ type: "insert", key, attributes })) === "written") return;
  // A previous attempt recorded it and failed before the document was replaced.
  const update = { type: "update", key, attribute: "expiresAt", value: expiresAt, where: [] } as const;
  if ((await write(update)) === "conflict")
    throw retryable("the record of a superseded object was deleted while it was renewed", 1);
}

/**
 * Deletes the object that an expired item pointed to, unless another item still points to it.
 *
 * The other item can be the document, if the write that should have superseded it failed, or a version under a legal
 * hold. If the document is missing, the object stays: an erasure has already deleted it, or a restore needs it.
 */
export function supersededRemover(read: ReadKey, bucket: Pick<ObjectBucket, "remove">) {
  return async ({ subject, name, announced, object }: SupersededObject): Promise<void> => {
    const keys = [
      documentKey(subject, name),
      versionKey(subject, name, announced),
      supersededKey(subject, name, announced),
    ];
    const [document, ...others] = await Promise.all(keys.map(read));
    if (document === undefined) return;
    const pointsToIt = [document, ...others].some(
      (item) => item !== undefined && fieldsOf(item.document, "document").object === object,
    );
    if (!pointsToIt) await bucket.remove(object);
  };
}

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
export type DocumentStore = ReturnType<typeof documentStore>;

/**
 * @param retainVersion stores the version that is about to be superseded; absent: only the newest version is retained.
 * It runs before the new version is written, so that a retry after a crash repeats it.
 */
export function documentStore(
  read: ReadKey,
  write: WriteItem,
  overflow: OverflowBucket,
  retainVersion?: (superseded: StoredDocument, updated: Document) => Promise<void>,
) {
  return {
    /** Reads consistently; concurrent reads share a request. */
    load: async (subject: Subject, name: DataName) => {
      const item = await read(documentKey(subject, name));
      return item && readDocument(item);
    },
    /**
     * Writes a document if it is still as `stored`.
     * @param content undefined if the provider has none
     * @param untilReady awaited once the data is stored, so that concurrent writes share a request
     */
    save: async (
      stored: StoredDocument | undefined,
      updated: Document,
      content: Content | undefined,
      untilReady?: () => Promise<void>,
    ) => {
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
  return { document: parseDocument(fields), storage: parseStorage(fields) };
}

/** Reads all documents of a subject; each range of dates is a document of its own. */
export function documentReader(client: DynamoDBClient, TableName: string) {
  return (subject: Subject): Promise<readonly StoredDocument[]> => {
    const items = queryPartition(client, TableName, { pk: partitionOf(subject), sk: documentPrefix });
    return Array.fromAsync(items, (item) => readDocument(readItem(item)));
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
  if (content.digest !== document.digest) throw permanent("the data does not match its stored digest");
  return content;
}

/** Operators set holds by hand, so they rarely change during one write. */
const maxAttempts = 4;

/**
 * Stores each superseded version as an item of its own. Reads legal holds after the write, so that a hold that is set
 * later finds the version.
 */
export function versionKeeper(read: ReadKey, write: WriteItem, days: number) {
  return async ({ document, storage }: StoredDocument, updated: Document): Promise<void> => {
    const { userId, announced: supersededAt } = updated;
    const { subject, announced } = document;
    if (announced === undefined || supersededAt === undefined) return;
    const key = versionKey(subject, document, announced);
    const expiresAt = expiryOf(supersededAt, days);
    const version = { ...document, userId, ...storage, supersededAt };
    const update = async (attribute: string, value: unknown) => {
      const outcome = await write({ type: "update", key, attribute, value, where: [] });
      if (outcome === "conflict") throw retryable("the version was deleted while it was stored", 1);
    };
    const attributes = { schemaVersion: itemVersion, document: version, expiresAt };
    let isStoredAsHeld: boolean | undefined = false;
    if ((await write({ type: "insert", key, attributes })) === "conflict") {
      // A previous attempt stored it and failed before the document was replaced.
      await update("document", version);
      isStoredAsHeld = undefined;
    }
    const holds = withUser({ subject, userId }).map(holdKey);
    for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
      // Concurrent reads share one request.
      const isHeld = (await Promise.all(holds.map(read))).some((hold) => hold !== undefined);
      if (isHeld === isStoredAsHeld) return;
      // DynamoDB does not expire an item whose time to live is not a number.
      await update("expiresAt", isHeld ? null : expiresAt);
      isStoredAsHeld = isHeld;
    }
    throw retryable("the legal holds keep changing", 1);
  };
}
