import { type DynamoDBClient, GetItemCommand, paginateQuery } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { checkSchemaVersion, type Fields, textOf } from "../../domain/core/parse.ts";
import type { IncomeEvent } from "../../domain/event/events.ts";
import { ownerOf, type Subject, subjectOf } from "../../domain/event/subjects.ts";
import type { Change } from "../../domain/state/change.ts";
import {
  documentPrefix,
  eventKey,
  eventPrefix,
  itemVersion,
  type Key,
  linkPrefix,
  partitionOf,
  readinessKey,
  stateKey,
} from "../dynamodb/keys.ts";
import { scanTable } from "../dynamodb/table-scan.ts";
import { changeOf } from "./change-stream.ts";

/** A stored item, as the change that would announce it as new. */
export type StoredChange = { readonly key: Key; readonly change: Change };

export type StoredPage = {
  /** In the order of keys within a partition. */
  readonly found: readonly StoredChange[];
  /** Items that this release can't read. */
  readonly unreadable: readonly Key[];
  /** How many items the scan read. */
  readonly examined: number;
};

/** Reads all items that lead to messages. `after` is the key of an item, to resume after it. */
export type StoredChanges = ReturnType<typeof storedChanges>;

/** Sort keys, in the order of a partition. */
const anybody: Subject = { kind: "user", id: "" };
const sortKeys = [documentPrefix, eventPrefix, readinessKey(anybody).sk, stateKey(anybody).sk] as const;
/** After the last sort key: DynamoDB rejects a start key at the very end of the range. */
const lastSortKey = `${sortKeys[3]}~`;
const attributes = ["document", "event", "readiness", "receipts", "schemaVersion", "state"];

export function storedChanges(client: DynamoDBClient, TableName: string) {
  return {
    /** The whole table. See `scanTable` for the cost. */
    all: async function* (after?: Key): AsyncGenerator<StoredPage> {
      for await (const { items, examined } of scanTable(client, TableName, {
        sortKeys,
        attributes,
        ...(after && { after }),
      })) {
        yield { ...readItems(items), examined };
      }
    },
    /**
     * Items about a subject, including a user's accounts, and an account's events in its user's partition. The latter
     * are found only if the account's state names the user.
     */
    of: async function* (subject: Subject, after?: Key): AsyncGenerator<StoredPage> {
      for (const partition of await partitionsOf(client, TableName, subject)) {
        if (after !== undefined && partition < after.pk) continue;
        const start = after?.pk === partition ? after : undefined;
        for await (const items of readPartition(client, TableName, partition, {
          first: sortKeys[0],
          after: start,
        })) {
          const { found, unreadable } = readItems(items);
          yield {
            found: found.filter(({ change }) => isAbout(subject, change)),
            unreadable,
            examined: items.length,
          };
        }
      }
    },
    /** Whether an event's own item still exists. */
    has: async (event: IncomeEvent) => {
      const { Item } = await client.send(
        new GetItemCommand({
          TableName,
          Key: marshall(eventKey(ownerOf(event), event.id)),
          ProjectionExpression: "pk",
        }),
      );
      return Item !== undefined;
    },
  };
}

/** The partitions that hold items about a subject, in the order of their keys. */
async function partitionsOf(
  client: DynamoDBClient,
  TableName: string,
  subject: Subject,
): Promise<readonly string[]> {
  const own = partitionOf(subject);
  const partitions = new Set([own]);
  for await (const items of readPartition(client, TableName, own, {
    first: subject.kind === "user" ? linkPrefix : sortKeys[0],
  })) {
    for (const item of items) {
      const sortKey = textOf(item, "sk");
      if (sortKey.startsWith(linkPrefix)) {
        partitions.add(partitionOf({ kind: "account", id: sortKey.slice(linkPrefix.length) }));
      }
    }
    for (const { change } of readItems(items).found) {
      if (change.type === "event" && subject.kind === "user")
        partitions.add(partitionOf(subjectOf(change.event)));
      const { userId } = change.type === "state" ? change.after : {};
      if (userId !== undefined && subject.kind !== "user")
        partitions.add(partitionOf({ kind: "user", id: userId }));
    }
  }
  return [...partitions].toSorted();
}

async function* readPartition(
  client: DynamoDBClient,
  TableName: string,
  pk: string,
  { first, after }: { readonly first: string; readonly after?: Key | undefined },
): AsyncGenerator<readonly Fields[]> {
  const query = {
    TableName,
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :first AND :last",
    ProjectionExpression: "pk, sk, schemaVersion, #document, #event, readiness, receipts, #state",
    ExpressionAttributeNames: { "#document": "document", "#event": "event", "#state": "state" },
    ExpressionAttributeValues: marshall({ ":pk": pk, ":first": first, ":last": lastSortKey }),
    ConsistentRead: true,
    ...(after && { ExclusiveStartKey: marshall(after) }),
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) {
    yield Items.map((item) => unmarshall(item));
  }
}

function readItems(items: readonly Fields[]): Pick<StoredPage, "found" | "unreadable"> {
  const found: StoredChange[] = [];
  const unreadable: Key[] = [];
  for (const item of items) {
    const key = { pk: textOf(item, "pk"), sk: textOf(item, "sk") };
    if (!sortKeys.some((prefix) => key.sk.startsWith(prefix))) continue;
    try {
      checkSchemaVersion(item.schemaVersion ?? 1, itemVersion);
      found.push({ key, change: changeOf(undefined, item) });
    } catch {
      unreadable.push(key);
    }
  }
  return { found, unreadable };
}

/** For an account, the user's partition is read too, which also holds events of other accounts. */
function isAbout(subject: Subject, change: Change): boolean {
  if (subject.kind === "user") return true;
  const other = change.type === "event" ? subjectOf(change.event) : change.after.subject;
  return other.kind === subject.kind && other.id === subject.id;
}
