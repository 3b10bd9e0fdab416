import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type Fields, fieldsOf, isFields, numberOf, optionalText, textOf } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { isWritten, itemReader, type ReadKey } from "./batching.ts";
import { queryPartition } from "./event-table.ts";
import { holdKey, itemVersion, partitionOf, stateKey, subjectOfPartition, versionPrefix } from "./keys.ts";
import { scanTable } from "./table-scan.ts";

export type LegalHold = { readonly at: string; readonly reason: string };

export async function loadHolds(
  read: ReadKey,
  subjects: readonly Subject[],
): Promise<readonly (LegalHold & { readonly subject: Subject })[]> {
  const found = await Promise.all(
    subjects.map(async (subject) => {
      const item = await read(holdKey(subject));
      return item === undefined ? [] : [{ subject, ...parseHold(item) }];
    }),
  );
  return found.flat();
}

function parseHold(item: Fields): LegalHold {
  const hold = fieldsOf(item.hold, "hold");
  return { at: textOf(hold, "at"), reason: textOf(hold, "reason") };
}

/** Sets and clears legal holds. Versions of documents do not expire while a hold is on their subject or its user. */
export function legalHolds(client: DynamoDBClient, TableName: string) {
  const isHeld = async (subject: Subject) => {
    const Key = marshall(holdKey(subject));
    const get = new GetItemCommand({ TableName, Key, ConsistentRead: true, ProjectionExpression: "pk" });
    return (await client.send(get)).Item !== undefined;
  };
  const ownerOf = async (subject: Subject) => {
    const state = (await itemReader(client, TableName)(stateKey(subject)))?.state;
    return isFields(state) ? optionalText(state, "userId") : undefined;
  };
  const versionsOf = async function* (subject: Subject) {
    const projection = {
      ProjectionExpression: "pk, sk, #document.supersededAt, #document.userId",
      ExpressionAttributeNames: { "#document": "document" },
    };
    const versions = { pk: partitionOf(subject), sk: versionPrefix };
    for await (const stored of queryPartition(client, TableName, versions, projection)) {
      const item = unmarshall(stored);
      const document = fieldsOf(item.document, "document");
      yield {
        key: { pk: textOf(item, "pk"), sk: textOf(item, "sk") },
        supersededAt: numberOf(document, "supersededAt"),
        userId: optionalText(document, "userId"),
      };
    }
  };
  const update = (key: { readonly pk: string; readonly sk: string }, expiresAt: number | undefined) =>
    isWritten(
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: marshall(key),
          ConditionExpression: "attribute_exists(pk)",
          UpdateExpression: expiresAt === undefined ? "REMOVE expiresAt" : "SET expiresAt = :expiresAt",
          ...(expiresAt !== undefined && {
            ExpressionAttributeValues: marshall({ ":expiresAt": expiresAt }),
          }),
        }),
      ),
    );

  return {
    /** @param accounts accounts whose versions the hold covers too. @returns how many versions no longer expire */
    set: async (subject: Subject, hold: LegalHold, accounts: readonly Subject[]) => {
      // Write the hold first: a version that is stored concurrently either sees the hold or is found below.
      const item = { ...holdKey(subject), schemaVersion: itemVersion, hold };
      await client.send(new PutItemCommand({ TableName, Item: marshall(item) }));
      let count = 0;
      for (const each of [subject, ...accounts]) {
        for await (const { key } of versionsOf(each)) if (await update(key, undefined)) count += 1;
      }
      return count;
    },
    /**
     * @param expiryOf computes a version's expiry, in epoch seconds
     * @returns how many versions expire again; undefined if there was no hold
     */
    clear: async (
      subject: Subject,
      accounts: readonly Subject[],
      expiryOf: (supersededAt: number) => number,
    ) => {
      const Key = marshall(holdKey(subject));
      const wasHeld = await isWritten(
        client.send(new DeleteItemCommand({ TableName, Key, ConditionExpression: "attribute_exists(pk)" })),
      );
      let count = 0;
      for (const each of [subject, ...accounts]) {
        const owner = await ownerOf(each);
        for await (const { key, supersededAt, userId } of versionsOf(each)) {
          const users = [...new Set([owner, userId].filter((id) => id !== undefined))];
          const holders = [each, ...users.map((id): Subject => ({ kind: "user", id }))];
          const holds = await Promise.all(holders.map(isHeld));
          if (!holds.includes(true) && (await update(key, expiryOf(supersededAt)))) count += 1;
        }
      }
      return wasHeld ? count : undefined;
    },
    /** All holds of the table, a page at a time. See `scanTable` for the cost. */
    list: async function* () {
      const { sk } = holdKey({ kind: "user", id: "" });
      for await (const { items, examined } of scanTable(client, TableName, {
        sortKeys: [sk],
        attributes: ["hold"],
      })) {
        const holds = items.flatMap((item) => {
          const subject = subjectOfPartition(textOf(item, "pk"));
          return subject === undefined ? [] : [{ subject, ...parseHold(item) }];
        });
        yield { examined, holds };
      }
    },
  };
}
