import {
  DeleteItemCommand,
  type DynamoDBClient,
  paginateQuery,
  type QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { fieldsOf, numberOf, textOf } from "../domain/parse.ts";
import type { Subject } from "../domain/subjects.ts";
import { eventKey, partitionOf } from "./keys.ts";

/** What the table keeps of an event: its id, and how often its body was received. */
export type StoredEvent = { readonly id: string; readonly receipts: number };

/** The partition of one user, account or company account, seen by an operator. */
export type StoredEvents = {
  readonly eventsOf: (owner: Subject) => Promise<readonly StoredEvent[]>;
  /** Deletes all that the partition holds. @returns how many items */
  readonly erase: (owner: Subject) => Promise<number>;
};

export function storedEvents(client: DynamoDBClient, TableName: string): StoredEvents {
  const query = async (input: Omit<QueryCommandInput, "TableName">) => {
    const items: Record<string, unknown>[] = [];
    for await (const { Items = [] } of paginateQuery(
      { client },
      { TableName, ConsistentRead: true, ...input },
    )) {
      items.push(...Items.map((item) => unmarshall(item)));
    }
    return items;
  };
  return {
    eventsOf: async (owner) => {
      const { pk, sk: prefix } = eventKey(owner, "");
      const items = await query({
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ProjectionExpression: "sk, receipts",
        ExpressionAttributeValues: marshall({ ":pk": pk, ":prefix": prefix }),
      });
      return items.map((item) => {
        const fields = fieldsOf(item, "an event");
        return { id: textOf(fields, "sk").slice(prefix.length), receipts: numberOf(fields, "receipts") };
      });
    },
    erase: async (owner) => {
      const keys = await query({
        KeyConditionExpression: "pk = :pk",
        ProjectionExpression: "pk, sk",
        ExpressionAttributeValues: marshall({ ":pk": partitionOf(owner) }),
      });
      for (const key of keys) await client.send(new DeleteItemCommand({ TableName, Key: marshall(key) }));
      return keys.length;
    },
  };
}
