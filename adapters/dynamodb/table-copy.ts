import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { textOf } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { namedBy } from "../erasure/erasable-records.ts";
import { isWritten } from "./batching.ts";
import { isTombstone, subjectOfPartition } from "./keys.ts";

/** An item of a table that was restored from a backup. */
export type RestoredItem = {
  /** The subject whose partition holds it; undefined for a tombstone. */
  readonly subject: Subject | undefined;
  /** All subjects that it names, `subject` included. */
  readonly subjects: readonly Subject[];
  readonly isEvent: boolean;
  /** The item as DynamoDB returns it, so that the copy keeps every digit of a number. */
  readonly raw: Record<string, AttributeValue>;
};

/**
 * Reads the items worth restoring: tombstones and the unexpired items of subjects. The state of the rate
 * limiter and the progress of a reconciliation are left out, because they are outdated in a backup.
 */
export async function* restoredItems(
  client: DynamoDBClient,
  tableName: string,
  now: Date,
): AsyncGenerator<readonly RestoredItem[]> {
  for await (const { Items = [] } of paginateScan(
    { client },
    { TableName: tableName, ConsistentRead: true },
  )) {
    yield Items.flatMap((raw) => readRestored(raw, now) ?? []);
  }
}

function readRestored(raw: Record<string, AttributeValue>, now: Date): RestoredItem | undefined {
  const item = unmarshall(raw);
  const key = { pk: textOf(item, "pk"), sk: textOf(item, "sk") };
  const subject = subjectOfPartition(key.pk);
  if (subject === undefined && !isTombstone(key)) return undefined;
  if (typeof item.expiresAt === "number" && item.expiresAt * 1000 <= now.getTime()) return undefined;
  const subjects = subject === undefined ? [] : [subject, ...namedBy(key, item)];
  return { subject, subjects, isEvent: key.sk.startsWith("EVENT#"), raw };
}

/** Copies an item unless the table has one with its key, which is newer. @returns whether it was copied */
export async function copyItem(
  client: DynamoDBClient,
  tableName: string,
  { raw }: RestoredItem,
): Promise<boolean> {
  return isWritten(
    client.send(
      new PutItemCommand({
        TableName: tableName,
        Item: raw,
        ConditionExpression: "attribute_not_exists(pk)",
      }),
    ),
  );
}
