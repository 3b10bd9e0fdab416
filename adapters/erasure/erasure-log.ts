import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";

/**
 * Remembers outside of the table who was erased, as one object for each, named by its digest: what is restored from
 * a backup is erased again from it. It holds digests and times only, so that it needs no erasure itself.
 */
export type WriteErasureLog = (digest: string, erasedAt: string) => Promise<void>;

const prefix = "erased/";

export function erasureLogWriter(client: S3Client, bucket: string): WriteErasureLog {
  return async (digest, erasedAt) => {
    const Body = JSON.stringify({ schemaVersion: 1, erasedAt });
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: prefix + digest, Body, ContentType: "application/json" }),
    );
  };
}

/** @returns the digests of all who were erased */
export async function readErasureLog(client: S3Client, bucket: string): Promise<ReadonlySet<string>> {
  const digests = new Set<string>();
  let token: string | undefined;
  do {
    const { Contents = [], NextContinuationToken } = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      }),
    );
    for (const { Key = "" } of Contents) digests.add(Key.slice(prefix.length));
    token = NextContinuationToken;
  } while (token !== undefined);
  return digests;
}

/** @returns when somebody was erased, by their digest; undefined where the log does not name them */
export async function readErasedAt(
  client: S3Client,
  bucket: string,
  digest: string,
): Promise<string | undefined> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: prefix + digest }));
    const text = (await Body?.transformToString()) ?? "";
    return textOf(fieldsOf(parseJson(text, "the log of erasures"), "the log of erasures"), "erasedAt");
  } catch (error) {
    if (error instanceof NoSuchKey) return undefined;
    throw error;
  }
}
