import { retryable } from "../../domain/core/failures.ts";
import { fieldsOf, present } from "../../domain/core/parse.ts";
import type { Document, DocumentPlace, SupersededObject } from "../../domain/fetch/document.ts";
import { expiryOf } from "../../domain/fetch/document-version.ts";
import type { RemoveObject } from "../s3/overflow-bucket.ts";
import type { ReadKey } from "./batching-reader.ts";
import type { WriteItem } from "./batching-writer.ts";
import { itemVersion } from "./items.ts";
import { documentKey, supersededKey, versionKey } from "./keys.ts";

/**
 * So long the object of superseded data stays: a restore brings back a document as it was up to 35 days before, and a
 * list that takes the 14 days of a message to read supersedes what was there as of its beginning.
 */
const objectDays = 35 + 14;

/**
 * Notes until when the object of superseded data stays, in an item whose expiry the stream announces.
 * @param next what supersedes it, and is not written yet
 */
export async function noteSuperseded(
  write: WriteItem,
  { document, place: { object } }: { readonly document: Document; readonly place: DocumentPlace },
  { announced: supersededAt }: Document,
): Promise<void> {
  const { subject, endpoint, range, announced } = document;
  if (object === undefined || announced === undefined || supersededAt === undefined) return;
  const key = supersededKey(subject, document, announced);
  const expiresAt = expiryOf(supersededAt, objectDays);
  const noted = present({ subject, endpoint, range, announced, object });
  const attributes = { schemaVersion: itemVersion, document: noted, expiresAt };
  if ((await write({ type: "insert", key, attributes })) === "written") return;
  // An attempt before noted it, and did not come to supersede it.
  const update = { type: "update", key, attribute: "expiresAt", value: expiresAt, where: [] } as const;
  if ((await write(update)) === "conflict") throw retryable("a note went while it was renewed", 1);
}

/** Removes an object that an item pointed to which has expired, unless another one still does. */
export type RemoveSuperseded = (superseded: SupersededObject) => Promise<void>;

/**
 * A document's object may have been noted by who then failed to supersede it, and a kept version may be held. Where the
 * document is gone it was erased, with its objects; or it was lost, and a restore needs them.
 */
export function supersededRemover(read: ReadKey, remove: RemoveObject): RemoveSuperseded {
  return async ({ subject, name, announced, object }) => {
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
    if (!pointsToIt) await remove(object);
  };
}
