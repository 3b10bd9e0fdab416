import { DeleteObjectCommand, paginateListObjectsV2, type S3Client } from "@aws-sdk/client-s3";
import { keepsNoVersions, type PurgeVersions } from "./object-versions.ts";

/** Deletes objects of a bucket. Deleting a missing object succeeds. */
export type ObjectEraser = {
  readonly remove: (key: string) => Promise<void>;
  /** @param prefix of the objects' keys, up to its last slash. @returns how many were deleted */
  readonly removeBelow: (prefix: `${string}/`) => Promise<number>;
  readonly countBelow: (prefix: `${string}/`) => Promise<number>;
  /** Objects below a prefix in the order of their keys, a page at a time. @param after a key, to resume after it */
  readonly pagesBelow: (
    prefix: `${string}/`,
    after: string | undefined,
  ) => AsyncIterable<readonly StoredObject[]>;
};

export type StoredObject = { readonly key: string; readonly bytes: number };

export function objectEraser(
  client: S3Client,
  bucket: string,
  purge: PurgeVersions = keepsNoVersions,
): ObjectEraser {
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
    remove: async (key) => {
      await remove(key);
      await purge(bucket, key);
    },
    removeBelow: async (prefix) => {
      const count = await below(prefix, remove);
      await purge(bucket, prefix);
      return count;
    },
    countBelow: (prefix) => below(prefix, async () => undefined),
    pagesBelow: async function* (Prefix, after) {
      const start = after === undefined ? {} : { StartAfter: after };
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix, ...start });
      for await (const { Contents = [] } of pages)
        yield Contents.map(({ Key: key = "", Size: bytes = 0 }) => ({ key, bytes }));
    },
  };
}
