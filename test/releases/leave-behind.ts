import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { marshall } from "@aws-sdk/util-dynamodb";
import { fieldsOf } from "../../domain/core/parse.ts";
import type { TestBucket, TestSystem, TestTable } from "../support/engines.ts";
import type { ReleaseSamples } from "./sample-files.ts";

/** A table and a bucket with all that a release left in them. */
export type LeftBehind = { readonly table: TestTable; readonly bucket: TestBucket };

export async function leaveBehind(
  { dynamodb, s3, createTable, createBucket }: TestSystem,
  { items = {}, objects = {} }: ReleaseSamples,
): Promise<LeftBehind> {
  const [table, bucket] = await Promise.all([createTable(), createBucket()]);
  for (const [name, item] of Object.entries(items)) {
    await dynamodb.send(new PutItemCommand({ TableName: table.name, Item: marshall(fieldsOf(item, name)) }));
  }
  for (const [Key, content] of Object.entries(objects)) {
    const Body = Buffer.from(String(content), "base64");
    await s3.send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }));
  }
  return { table, bucket };
}
