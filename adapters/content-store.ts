import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type DataName, nameOfData } from "../domain/data-name.ts";
import { nameOf, type Subject } from "../domain/subjects.ts";
import { itemVersion } from "./event-table.ts";
import { contentKey } from "./keys.ts";
import type { OverflowBucket } from "./overflow-bucket.ts";

/** Data as the provider gave it, byte for byte: JSON text, so that its numbers keep their digits. */
export type Content = { readonly text: string; readonly digest: string };

/**
 * Stores an endpoint's data, unless a later fetch was faster. `undefined` says that the provider has none.
 * @param noted what was wanted when the call was made, see `domain/data-set.ts`
 */
export type StoreContent = (
  subject: Subject,
  name: DataName,
  noted: number,
  content: Content | undefined,
) => Promise<void>;

/** DynamoDB: 400 KB an item, names and keys included. */
const inlineLimitInBytes = 380_000;

export function contentOf(text: string): Content {
  return { text, digest: createHash("sha256").update(text).digest("base64url") };
}

export function contentStore(
  client: DynamoDBClient,
  tableName: string,
  overflow: OverflowBucket,
): StoreContent {
  return async (subject, name, noted, content) => {
    const place = content === undefined ? {} : await placeOf(overflow, subject, name, content);
    const item = { ...contentKey(subject, name), schemaVersion: itemVersion, done: noted, ...place };
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: marshall(item),
          ConditionExpression: "attribute_not_exists(done) OR done <= :done",
          ExpressionAttributeValues: marshall({ ":done": noted }),
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  };
}

/** Large data lies in S3, compressed, under its subject's name, where an erasure finds it. */
async function placeOf(overflow: OverflowBucket, subject: Subject, name: DataName, content: Content) {
  const { text, digest } = content;
  if (Buffer.byteLength(text) <= inlineLimitInBytes) return { content: text, digest };
  const key = `data/${nameOf(subject)}/${nameOfData(name, "/")}/${digest}.json.gz`;
  await overflow.put(key, gzipSync(text));
  return { object: key, digest };
}
