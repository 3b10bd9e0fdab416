import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { fieldsOf, parseJson, textOf } from "../../domain/core/parse.ts";

const prefix = "erased/";

/**
 * Records erased subjects outside the table, one object each, named by the subject's digest. A restore from a backup
 * erases them again. The log contains only digests and times, so it needs no erasure itself.
 */
export function erasureLogWriter(client: S3Client, bucket: string) {
  return async (digest: string, erasedAt: string): Promise<void> => {
    const Body = JSON.stringify({ schemaVersion: 1, erasedAt });
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: prefix + digest, Body, ContentType: "application/json" }),
    );
  };
}

/** @returns the digests of all erased subjects */
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

/** @returns when the subject of a digest was erased; undefined if the log does not name it */
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
