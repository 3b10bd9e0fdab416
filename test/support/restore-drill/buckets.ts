import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from "@aws-sdk/client-s3";

/** Contents of a bucket by key, as a backup has them. */
export type Objects = ReadonlyMap<string, Uint8Array>;

export async function readObjects(client: S3Client, Bucket: string): Promise<Objects> {
  const found = new Map<string, Uint8Array>();
  for (const Key of await keysOf(client, Bucket)) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    found.set(Key, (await Body?.transformToByteArray()) ?? new Uint8Array());
  }
  return found;
}

export async function putObjects(client: S3Client, Bucket: string, objects: Objects): Promise<void> {
  for (const [Key, Body] of objects) await client.send(new PutObjectCommand({ Bucket, Key, Body }));
}

/** Loses all that a bucket holds. */
export async function emptyBucket(client: S3Client, Bucket: string): Promise<void> {
  for (const Key of await keysOf(client, Bucket)) await client.send(new DeleteObjectCommand({ Bucket, Key }));
}

async function keysOf(client: S3Client, Bucket: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
    keys.push(...Contents.flatMap(({ Key }) => Key ?? []));
  return keys;
}
