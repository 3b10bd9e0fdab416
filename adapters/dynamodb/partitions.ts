import { type DynamoDBClient, paginateQuery, QueryCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type Fields, textOf } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { linkPrefix, partitionOf, readItem } from "./keys.ts";

/** Reads the partition of a user or an account. */
export type Partitions = {
  /** Ids of the accounts that are linked to a user. */
  readonly accountsOf: (
    userId: string,
    options?: { readonly isConsistent?: boolean },
  ) => Promise<readonly string[]>;
  /** Whether anything is stored about a subject. */
  readonly isKnown: (subject: Subject) => Promise<boolean>;
};

export function partitions(client: DynamoDBClient, tableName: string): Partitions {
  const read = async (subject: Subject, prefix: string, isConsistent: boolean) => {
    const found: Fields[] = [];
    const query = {
      TableName: tableName,
      ConsistentRead: isConsistent,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: marshall({ ":pk": partitionOf(subject), ":prefix": prefix }),
    };
    for await (const { Items = [] } of paginateQuery({ client }, query)) {
      found.push(...Items.map((item) => readItem(item)));
    }
    return found;
  };
  return {
    accountsOf: async (userId, { isConsistent = false } = {}) => {
      const links = await read({ kind: "user", id: userId }, linkPrefix, isConsistent);
      return links.map((link) => textOf(link, "sk").slice(linkPrefix.length));
    },
    isKnown: async (subject) => {
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
