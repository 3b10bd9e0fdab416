import {
  DeleteItemCommand,
  type DynamoDBClient,
  paginateQuery,
  type QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { checkSchemaVersion, type Fields, numberOf } from "../../domain/core/parse.ts";
import { type Body, parseBody } from "../../domain/event/envelope.ts";
import { type IncomeEvent, parseEvent } from "../../domain/event/events.ts";
import { parseReceipts, type Receipts } from "../../domain/event/receipts.ts";
import { ownerOf, type Subject } from "../../domain/event/subjects.ts";
import { itemReader } from "./batching.ts";
import { eventKey, eventPrefix, itemVersion, partitionOf } from "./keys.ts";
import { scanTable } from "./table-scan.ts";

/** A stored event without its body, and how often it was received. */
export type StoredEvent = { readonly event: IncomeEvent; readonly receipts: Receipts };
export type EventDetails = { readonly body: Body; readonly keptUntil: Date };

/** Reads and erases stored events, for operators' commands. */
export type StoredEvents = ReturnType<typeof storedEvents>;

export function storedEvents(client: DynamoDBClient, TableName: string) {
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
    /** The events in the partition of a user, account or company account. */
    eventsOf: async (owner: Subject) => {
      const { pk, sk: prefix } = eventKey(owner, "");
      const items = await query({
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ProjectionExpression: "#event, receipts, schemaVersion",
        ExpressionAttributeNames: { "#event": "event" },
        ExpressionAttributeValues: marshall({ ":pk": pk, ":prefix": prefix }),
      });
      return items.map(readStoredEvent);
    },
    /** The events of the whole table whose ids start with `idPrefix`, in no order. See `scanTable` for the cost. */
    scan: async function* (idPrefix: string = "") {
      const wanted = {
        sortKeys: [`${eventPrefix}${idPrefix}`],
        attributes: ["event", "receipts", "schemaVersion"],
      };
      for await (const { items, examined } of scanTable(client, TableName, wanted)) {
        yield { events: items.map(readStoredEvent), examined };
      }
    },
    /** An event's body and expiry; undefined if the event has been deleted. */
    detailsOf: async (event: IncomeEvent) => {
      const item = await itemReader(client, TableName)(eventKey(ownerOf(event), event.id));
      if (item === undefined) return undefined;
      return { body: parseBody(item.body), keptUntil: new Date(numberOf(item, "expiresAt") * 1000) };
    },
    /** Deletes all items of the partition. @returns how many */
    erase: async (owner: Subject) => {
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

/** @throws retryable failure if a later release wrote the item */
function readStoredEvent(item: Fields): StoredEvent {
  checkSchemaVersion(item.schemaVersion, itemVersion);
  return { event: parseEvent(item.event), receipts: parseReceipts(item.receipts) };
}
