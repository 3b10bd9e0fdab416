import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import {
  type FoundDeletion,
  type OrphanMark,
  parseFoundDeletion,
  parseOrphanMark,
} from "../../domain/reconcile/orphans.ts";
import { itemReader } from "./batching.ts";
import { queryPartition } from "./event-table.ts";
import { itemVersion, orphanKey, readItem } from "./keys.ts";

export type OrphanItem = "mark" | "deletion";

/** Longer than two consecutive runs take, and than a deletion counts against the limit. */
const keptDays = 30;

/** Stores what scheduled reconciliation runs found: accounts that the provider no longer lists. */
export function orphans(client: DynamoDBClient, TableName: string) {
  const list = <T>(item: OrphanItem, parse: (value: unknown) => T): Promise<readonly T[]> =>
    Array.fromAsync(queryPartition(client, TableName, orphanKey(item, "")), (each) =>
      parse(readItem(each)[item]),
    );
  const save = async (item: OrphanItem, value: OrphanMark | FoundDeletion, since: string) => {
    const expiresAt = Math.ceil(Date.parse(since) / 1000) + keptDays * 86_400;
    const Item = {
      ...orphanKey(item, value.accountId),
      ...{ schemaVersion: itemVersion, expiresAt, [item]: value },
    };
    await client.send(new PutItemCommand({ TableName, Item: marshall(Item) }));
  };
  return {
    mark: async (accountId: string) => {
      const item = await itemReader(client, TableName)(orphanKey("mark", accountId));
      return item && parseOrphanMark(item.mark);
    },
    marks: () => list("mark", parseOrphanMark),
    deletions: () => list("deletion", parseFoundDeletion),
    saveMark: (mark: OrphanMark) => save("mark", mark, mark.lastRun),
    saveDeletion: (deletion: FoundDeletion) => save("deletion", deletion, deletion.decidedAt),
    remove: async (item: OrphanItem, accountId: string) => {
      await client.send(new DeleteItemCommand({ TableName, Key: marshall(orphanKey(item, accountId)) }));
    },
  };
}
