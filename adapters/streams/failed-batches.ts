import {
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";
import { readParked, type StreamRecord } from "./change-stream.ts";

/** A batch of stream records that Lambda gave up on: an object of the failures bucket. */
export type FailedBatch = {
  readonly key: string;
  /** When Lambda gave up on it. */
  readonly since?: Date;
  /** @throws permanent failure if the object holds no records */
  readonly read: () => Promise<readonly StreamRecord[]>;
  readonly remove: () => Promise<void>;
};

/**
 * The batches in the failures bucket, in the order of their keys, `aws/lambda/<mapping>/<shard>/<date>/…`. Only in S3
 * is `payload` the whole event, as text.
 * Source: Lambda developer guide, "Retain discarded records for a DynamoDB event source".
 */
export async function* failedBatches(client: S3Client, Bucket: string): AsyncGenerator<FailedBatch> {
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client },
    { Bucket, Prefix: "aws/lambda/" },
  )) {
    for (const { Key, LastModified } of Contents) {
      if (Key === undefined) continue;
      yield {
        key: Key,
        ...(LastModified && { since: LastModified }),
        read: async () => {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
          return readParked((await Body?.transformToString()) ?? "");
        },
        remove: async () => {
          await client.send(new DeleteObjectCommand({ Bucket, Key }));
        },
      };
    }
  }
}
