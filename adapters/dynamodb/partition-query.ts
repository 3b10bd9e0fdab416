import { type DynamoDBClient, paginateQuery, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { Item } from "./batching.ts";
import type { Key } from "./keys.ts";

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
