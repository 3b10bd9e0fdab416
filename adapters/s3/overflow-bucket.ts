import { Readable } from "node:stream";
import type { S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { isRefused, statusOf } from "./refused.ts";
import { s3Client } from "./s3-client.ts";

/**
 * Stores what is too large for a message or an item. The S3 client is loaded on first use, so that small data does
 * not pay for it.
 */
export type OverflowBucket = {
  readonly put: (key: string, content: string | Uint8Array) => Promise<void>;
  readonly get: (key: string) => Promise<Uint8Array>;
  /** The stored size of an object, in bytes. */
  readonly size: (key: string) => Promise<number>;
  /** Undefined if the object is missing. @throws if KMS refuses to decrypt it */
  readonly find: (key: string) => Promise<Uint8Array | undefined>;
};

/** What some functions also do with the objects of a bucket. */
export type ObjectBucket = OverflowBucket & {
  /** Streams the bytes of an object; undefined if it is missing. @throws if KMS refuses to decrypt it */
  readonly open: (key: string) => Promise<Readable | undefined>;
  /** Deletes an object. Deleting a missing object succeeds. */
  readonly remove: (key: string) => Promise<void>;
  /**
   * Bytes, or why there are none: S3 has no such object, or refuses it, for example if it can't decrypt it. Needs
   * permission to list the bucket; without it, S3 does not report that an object is missing.
   */
  readonly tryGet: (key: string) => Promise<Uint8Array | "missing" | "refused">;
  /** The objects whose keys start with `prefix`, in the order of their keys. */
  readonly list: (prefix: string) => Promise<readonly { readonly key: string; readonly since: Date }[]>;
};

/** @param given the client to use; absent: one configured by the environment */
export function overflowBucket(bucket: string, given?: S3Client): ObjectBucket {
  const connect = once(async () => {
    const s3 = await import("#lazy/s3");
    return { s3, client: given ?? s3Client(s3.S3Client) };
  });
  const get = async (key: string) => {
    const { s3, client } = await connect();
    const { Body } = await client.send(new s3.GetObjectCommand({ Bucket: bucket, Key: key }));
    return Body === undefined ? new Uint8Array() : Body.transformToByteArray();
  };
  const unlessMissing = async <T>(read: () => Promise<T>) => {
    const { s3 } = await connect();
    try {
      return await read();
    } catch (error) {
      if (error instanceof s3.S3ServiceException && isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    put: async (key, content) => {
      const { s3, client } = await connect();
      await client.send(new s3.PutObjectCommand({ Bucket: bucket, Key: key, Body: content }));
    },
    get,
    size: async (key) => {
      const { s3, client } = await connect();
      const { ContentLength = 0 } = await client.send(new s3.HeadObjectCommand({ Bucket: bucket, Key: key }));
      return ContentLength;
    },
    find: (key) => unlessMissing(() => get(key)),
    tryGet: async (key) => {
      try {
        return await get(key);
      } catch (error) {
        if (statusOf(error) === 404) return "missing";
        if (isRefused(error)) return "refused";
        throw error;
      }
    },
    list: async (Prefix) => {
      const { s3, client } = await connect();
      const found: { key: string; since: Date }[] = [];
      for await (const { Contents = [] } of s3.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix }))
        for (const { Key, LastModified } of Contents)
          if (Key !== undefined && LastModified !== undefined) found.push({ key: Key, since: LastModified });
      return found;
    },
    remove: async (key) => {
      const { s3, client } = await connect();
      await client.send(new s3.DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
    open: (key) =>
      unlessMissing(async () => {
        const { s3, client } = await connect();
        const { Body } = await client.send(new s3.GetObjectCommand({ Bucket: bucket, Key: key }));
        return Body instanceof Readable ? Body : Readable.from([]);
      }),
  };
}

/**
 * S3 answers 403 for a missing object if the caller may not list the bucket, and for an object that KMS does not let
 * the caller decrypt. Only the message distinguishes them: "… not authorized to perform: kms:Decrypt", or, for a key
 * of another account, "The ciphertext refers to a customer master key that does not exist …".
 */
function isMissing({ $metadata, message }: S3ServiceException): boolean {
  const status = $metadata.httpStatusCode;
  return status === 404 || (status === 403 && !/\bkms:|ciphertext/i.test(message));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
