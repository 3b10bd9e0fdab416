import { DeleteObjectCommand, paginateListObjectsV2, type S3Client } from "@aws-sdk/client-s3";
import { keepsNoVersions, type PurgeVersions } from "./object-versions.ts";

/** Deletes objects of a bucket. Deleting a missing object succeeds. */
export function objectEraser(client: S3Client, bucket: string, purge: PurgeVersions = keepsNoVersions) {
  const remove = async (key: string) => {
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  };
  const below = async (prefix: string, each: (key: string) => Promise<void>) => {
    let count = 0;
    for await (const { Contents = [] } of paginateListObjectsV2(
      { client },
      { Bucket: bucket, Prefix: prefix },
    )) {
      await Promise.all(Contents.map(({ Key = "" }) => each(Key)));
      count += Contents.length;
    }
    return count;
  };
  return {
    remove: async (key: string) => {
      await remove(key);
      await purge(bucket, key);
    },
    /** @param prefix of the objects' keys, up to its last slash. @returns how many were deleted */
    removeBelow: async (prefix: `${string}/`) => {
      const count = await below(prefix, remove);
      await purge(bucket, prefix);
      return count;
    },
    countBelow: (prefix: `${string}/`) => below(prefix, async () => undefined),
    /** Objects below a prefix in the order of their keys, a page at a time. @param after a key, to resume after it */
    pagesBelow: async function* (Prefix: `${string}/`, after: string | undefined) {
      const start = after === undefined ? {} : { StartAfter: after };
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix, ...start });
      for await (const { Contents = [] } of pages)
        yield Contents.map(({ Key: key = "", Size: bytes = 0 }) => ({ key, bytes }));
    },
  };
}
