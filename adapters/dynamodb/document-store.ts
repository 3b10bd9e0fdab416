import { type DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { permanent } from "../../domain/core/failures.ts";
import { optionalText } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import { compress, digestOf, expand, type Parts, sizeOf } from "../aws/compressed.ts";
import type { OverflowBucket } from "../s3/overflow-bucket.ts";
import { isWritten } from "./conditional-write.ts";
import { itemVersion, readItem } from "./items.ts";
import { contentKey } from "./keys.ts";

/** Data as the provider gave it, byte for byte: JSON text, so that its numbers keep their digits. */
export type Content = { readonly parts: Parts; readonly digest: string };

/**
 * Stores an endpoint's data, unless a later fetch was faster. `undefined` says that the provider has none.
 * @param noted what was wanted when the call was made, see `domain/fetch/document.ts`
 */
export type StoreContent = (
  subject: Subject,
  name: DataName,
  noted: number,
  content: Content | undefined,
) => Promise<void>;

/** Reads an endpoint's data back whole, wherever it lies; undefined where the provider has none, or none is stored. */
export type ReadContent = (subject: Subject, name: DataName) => Promise<Content | undefined>;

/** DynamoDB: 400 KB an item, names and keys included. */
const inlineLimitInBytes = 380_000;

export function contentOf(text: string | Parts): Content {
  const parts = typeof text === "string" ? [Buffer.from(text)] : text;
  return { parts, digest: digestOf(parts) };
}

export function contentStore(
  client: DynamoDBClient,
  tableName: string,
  overflow: OverflowBucket,
): StoreContent {
  return async (subject, name, noted, content) => {
    const place = content === undefined ? {} : await placeOf(overflow, subject, name, content);
    const item = { ...contentKey(subject, name), schemaVersion: itemVersion, done: noted, ...place };
    await isWritten(
      client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: marshall(item),
          ConditionExpression: "attribute_not_exists(done) OR done <= :done",
          ExpressionAttributeValues: marshall({ ":done": noted }),
        }),
      ),
    );
  };
}

/** Large data lies in S3, compressed, under its subject's name, where an erasure finds it. */
async function placeOf(overflow: OverflowBucket, subject: Subject, name: DataName, content: Content) {
  const { parts, digest } = content;
  if (sizeOf(parts) <= inlineLimitInBytes) return { content: Buffer.concat(parts).toString(), digest };
  const key = `data/${nameOf(subject)}/${nameOfData(name, "/")}/${digest}.json.gz`;
  await overflow.put(key, await compress(parts));
  return { object: key, digest };
}

/** @throws permanent failure where what is there is not what was stored */
export function contentReader(
  client: DynamoDBClient,
  tableName: string,
  overflow: OverflowBucket,
): ReadContent {
  return async (subject, name) => {
    const { Item } = await client.send(
      new GetItemCommand({
        TableName: tableName,
        Key: marshall(contentKey(subject, name)),
        ConsistentRead: true,
      }),
    );
    const item = Item === undefined ? {} : readItem(Item);
    const { content: inline, digest } = item;
    // Without a digest: the provider has none.
    if (digest === undefined) return undefined;
    const object = optionalText(item, "object");
    const content = contentOf(
      object === undefined ? String(inline) : [await expand(await overflow.get(object))],
    );
    if (content.digest !== digest) throw permanent("the data is another than was stored");
    return content;
  };
}
