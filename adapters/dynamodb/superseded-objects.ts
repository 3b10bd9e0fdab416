import { retryable } from "../../domain/core/failures.ts";
import { fieldsOf, present } from "../../domain/core/parse.ts";
import type { Document, DocumentStorage, SupersededObject } from "../../domain/fetch/document.ts";
import { expiryOf } from "../../domain/fetch/document-version.ts";
import type { ObjectBucket } from "../s3/overflow-bucket.ts";
import type { ReadKey } from "./batching-reader.ts";
import type { WriteItem } from "./batching-writer.ts";
import { itemVersion } from "./items.ts";
import { documentKey, supersededKey, versionKey } from "./keys.ts";

/**
 * Days that the object of superseded data is kept. A restore can bring back a document from up to 35 days ago.
 * Reading a list can take the 14 days of a message, and supersedes the document as of when the reading began.
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
  if ((await write(update)) === "conflict") throw retryable("a note went while it was renewed", 1);
}

/**
 * Deletes the object that an expired item pointed to, unless another item still points to it.
 *
 * Another item may still point to the object: the document, if the write that should have superseded it failed, or a
 * version under a legal hold. If the document is missing, the object stays: an erasure has already deleted it, or a
 * restore needs it.
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
