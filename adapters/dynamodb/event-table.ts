import {
  type DynamoDBClient,
  paginateQuery,
  paginateScan,
  QueryCommand,
  type QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type Failure, failureOf, retryable } from "../../domain/core/failures.ts";
import { textOf } from "../../domain/core/parse.ts";
import type { Body } from "../../domain/event/envelope.ts";
import { type IncomeEvent, isUnordered } from "../../domain/event/events.ts";
import {
  countReceipts,
  type EventMessage,
  firstReceipts,
  type MergedReceipt,
  mergeReceipts,
  parseReceipts,
  type Receipts,
} from "../../domain/event/receipts.ts";
import { loggedNameIndex, ownerOf, type Subject } from "../../domain/event/subjects.ts";
import {
  batchingReader,
  batchingWriter,
  type Item,
  nameOf,
  type ReadKey,
  type WriteItem,
} from "./batching.ts";
import {
  canaryKey,
  eventKey,
  itemVersion,
  type Key,
  linkKey,
  linkPrefix,
  partitionOf,
  readItem,
} from "./keys.ts";

/** @returns a function that links an account to its user. Idempotent. */
export function linkTable(write: WriteItem) {
  return async (userId: string, accountId: string): Promise<void> => {
    const attributes = { schemaVersion: itemVersion };
    await write({ type: "insert", key: linkKey(userId, accountId), attributes });
  };
}

/** Finds what is stored about users and accounts. */
export function partitions(client: DynamoDBClient, tableName: string) {
  return {
    /** Ids of the accounts that are linked to a user. */
    accountsOf: async (
      userId: string,
      { isConsistent = false }: { readonly isConsistent?: boolean } = {},
    ): Promise<readonly string[]> => {
      const options = { ConsistentRead: isConsistent };
      const links = queryPartition(client, tableName, linkKey(userId, ""), options);
      return Array.fromAsync(links, (link) => textOf(readItem(link), "sk").slice(linkPrefix.length));
    },
    /** Sorted ids of all company accounts with a state. Reads the whole index of states, about 100 bytes each. */
    companyAccounts: async () => {
      const prefix = partitionOf({ kind: "company-account", id: "" });
      const scan = {
        TableName: tableName,
        IndexName: loggedNameIndex.name,
        FilterExpression: "begins_with(pk, :prefix)",
        ExpressionAttributeValues: marshall({ ":prefix": prefix }),
      };
      const ids: string[] = [];
      for await (const { Items = [] } of paginateScan({ client }, scan))
        ids.push(...Items.map((item) => textOf(unmarshall(item), "pk").slice(prefix.length)));
      return ids.sort();
    },
    /** Whether anything is stored about a subject. */
    isKnown: async (subject: Subject) => {
      const { Count = 0 } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: marshall({ ":pk": partitionOf(subject) }),
          Select: "COUNT",
          Limit: 1,
        }),
      );
      return Count > 0;
    },
  };
}

/** One receipt of an event: the event, its body (credentials removed) and the message that carried it. */
export type Receipt = { readonly event: IncomeEvent; readonly body: Body; readonly message: EventMessage };

/** Whether a receipt was the event's first, or why it was not stored. */
export type ReceiptOutcome = "first" | "duplicate" | Failure;

const secondsPerDay = 86_400;
/** Few writers update one event's counter concurrently, since duplicates within a batch are merged. */
const maxAttempts = 8;
/** Maximum number of events whose receipts a process remembers; it then forgets them all. */
const maxRemembered = 5_000;

/** The recorder of receipts for a table. */
export function eventTable(client: DynamoDBClient, tableName: string, retentionInDays: number) {
  const read = batchingReader(client, tableName, ["pk", "sk", "schemaVersion", "receipts"]);
  return receiptRecorder({ write: batchingWriter(client, tableName), read }, retentionInDays);
}

/**
 * Records receipts with one write per event (see docs/adr/0001). The write is an insert, which fails for a known
 * event. Where the same bytes may be a real repeat, the event's receipts are then read and updated; those that this
 * process has written are known without a read. `expiresAt` is the time to live in epoch seconds.
 * @param read reads consistently
 * @returns a function that records receipts, and returns the outcome of each, in order
 */
export function receiptRecorder(
  { write, read }: { readonly write: WriteItem; readonly read: ReadKey },
  retentionInDays: number,
) {
  /** Receipts that this process wrote last, by event. Another writer may have changed or erased them since. */
  const remembered = new Map<string, Receipts>();

  const insert = ({ receipt: { event, body }, messages }: MergedReceipt<Receipt>) => {
    const receivedAt = Math.floor(Date.parse(event.receivedAt) / 1000);
    return write({
      type: "insert",
      key: keyOf(event),
      attributes: {
        event,
        body,
        receipts: firstReceipts(event, { messages }),
        expiresAt: receivedAt + Math.round(retentionInDays * secondsPerDay),
        schemaVersion: itemVersion,
      },
    });
  };

  const recordUnordered = async (merged: MergedReceipt<Receipt>): Promise<"first" | "duplicate"> => {
    const key = keyOf(merged.receipt.event);
    const name = nameOf(key);
    let stored = remembered.get(name);
    for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
      const updated = stored ? countReceipts(stored, merged) : firstReceipts(merged.receipt.event, merged);
      if (updated === undefined) return "duplicate";
      const outcome = stored ? await count(write, key, stored, updated) : await insert(merged);
      if (outcome === "written") {
        if (remembered.size >= maxRemembered) remembered.clear();
        remembered.set(name, updated);
        return stored ? "duplicate" : "first";
      }
      // The event is known, or another writer was faster.
      stored = await receiptsOf(read, key);
    }
    throw retryable("event contended", 1);
  };

  const record = async (merged: MergedReceipt<Receipt>): Promise<"first" | "duplicate"> => {
    if (isUnordered(merged.receipt.event)) return recordUnordered(merged);
    return (await insert(merged)) === "written" ? "first" : "duplicate";
  };

  return async (receipts: readonly Receipt[]): Promise<readonly ReceiptOutcome[]> => {
    const outcomes = new Map<string, ReceiptOutcome>();
    const recordAll = mergeReceipts(receipts).map(async (merged) => {
      const outcome = await record(merged).catch(failureOf);
      for (const [index, message] of merged.messages.entries()) {
        const name = nameOfReceipt({ ...merged.receipt, message });
        outcomes.set(name, outcome === "first" && index > 0 ? "duplicate" : outcome);
      }
    });
    await Promise.all(recordAll);
    return receipts.map((receipt) => outcomes.get(nameOfReceipt(receipt)) ?? failureOf(undefined));
  };
}

/** A message may carry several events, and several messages may carry the same event. */
function nameOfReceipt({ event, message }: Receipt): string {
  return `${message.id} ${nameOf(keyOf(event))}`;
}

function keyOf(event: IncomeEvent): Key {
  return eventKey(ownerOf(event), event.id);
}

async function receiptsOf(read: ReadKey, key: Key): Promise<Receipts | undefined> {
  const item = await read(key);
  return item && parseReceipts(item.receipts);
}

/**
 * Updates the count if it has not changed since the read. `last` distinguishes an event that was erased and received
 * anew.
 */
function count(write: WriteItem, key: Key, stored: Receipts, updated: Receipts) {
  return write({
    type: "update",
    key,
    attribute: "receipts",
    value: updated,
    where: [
      { path: ["receipts", "count"], operator: "=", value: stored.count },
      { path: ["receipts", "last"], operator: "=", value: stored.last },
    ],
  });
}

const canarySeconds = 86_400;

/** Stores a canary, which the stream then reports. Idempotent. */
export function canaryTable(write: WriteItem, now: () => Date) {
  return async (id: string): Promise<void> => {
    const expiresAt = Math.floor(now().getTime() / 1_000) + canarySeconds;
    await write({
      type: "insert",
      key: canaryKey(id),
      attributes: { schemaVersion: itemVersion, expiresAt },
    });
  };
}

/**
 * Reads the items of a partition by the beginning of their sort keys, in their order.
 * @param options of the query; absent: all attributes, read consistently
 */
export async function* queryPartition(
  client: DynamoDBClient,
  TableName: string,
  { pk, sk }: Key,
  options: Partial<QueryCommandInput> = {},
): AsyncGenerator<Item> {
  const query = {
    TableName,
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: marshall({ ":pk": pk, ":prefix": sk }),
    ConsistentRead: true,
    ...options,
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) yield* Items;
}
