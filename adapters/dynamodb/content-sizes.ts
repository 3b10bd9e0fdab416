import { type DynamoDBClient, paginateQuery } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { optionalText, textOf } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { type DataName, nameOfData } from "../../domain/fetch/document-name.ts";
import type { OverflowBucket } from "../s3/overflow-bucket.ts";
import { readItem } from "./items.ts";
import { contentPrefix, partitionOf } from "./keys.ts";

/** How large stored data is; in the bucket it lies compressed. */
export type ContentSize = { readonly bytes: number; readonly compressed: boolean };

/** Sizes of all that is stored of a subject, found by the data's name; undefined where the provider has none. */
export type ContentSizes = (name: DataName) => ContentSize | undefined;

/** Reads what lies in the table, and asks the bucket for the sizes of the rest. */
export async function contentSizes(
  client: DynamoDBClient,
  TableName: string,
  overflow: Pick<OverflowBucket, "size">,
  subject: Subject,
): Promise<ContentSizes> {
  const sizes = new Map<string, ContentSize>();
  const query = {
    TableName,
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: marshall({ ":pk": partitionOf(subject), ":prefix": contentPrefix }),
    ConsistentRead: true,
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) {
    for (const item of Items.map(readItem)) {
      const name = textOf(item, "sk").slice(contentPrefix.length);
      const [content, object] = [optionalText(item, "content"), optionalText(item, "object")];
      if (content !== undefined) sizes.set(name, { bytes: Buffer.byteLength(content), compressed: false });
      if (object !== undefined) sizes.set(name, { bytes: await overflow.size(object), compressed: true });
    }
  }
  return (name) => sizes.get(nameOfData(name, "#"));
}
