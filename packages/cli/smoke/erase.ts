import { DeleteObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import type { StoredEvents } from "../../../adapters/dynamodb/stored-events.ts";
import { objectKeyOf, planEvents } from "./plan.ts";

/** Where a run has stored something. */
type Storage = { readonly stored: StoredEvents; readonly s3: S3Client; readonly bucketName: string };

/** Deletes from table and bucket what the run of a mark stored. @returns how many items of the table */
export async function eraseRun({ stored, s3, bucketName }: Storage, mark: string): Promise<number> {
  let items = 0;
  for (const event of planEvents(mark)) {
    items += await stored.erase(event.owner);
    if (!event.isLarge) continue;
    await s3.send(new DeleteObjectCommand({ Bucket: bucketName, Key: objectKeyOf(event) }));
  }
  return items;
}
