import { type DynamoDBClient, paginateQuery, paginateScan, QueryCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type Fields, textOf } from "../../domain/core/parse.ts";
import { loggedNameIndex, type Subject } from "../../domain/event/subjects.ts";
import { linkPrefix, partitionOf, readItem } from "./keys.ts";

/** Finds what is stored about users and accounts. */
export type Partitions = ReturnType<typeof partitions>;

export function partitions(client: DynamoDBClient, tableName: string) {
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
    /** Ids of the accounts that are linked to a user. */
    accountsOf: async (
      userId: string,
      { isConsistent = false }: { readonly isConsistent?: boolean } = {},
    ): Promise<readonly string[]> => {
      const links = await read({ kind: "user", id: userId }, linkPrefix, isConsistent);
      return links.map((link) => textOf(link, "sk").slice(linkPrefix.length));
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
