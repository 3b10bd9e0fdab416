import { type DynamoDBClient, QueryCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { numberOf } from "../../domain/core/parse.ts";
import { callWindowKey } from "../dynamodb/keys.ts";

/** How many calls of the provider were permitted in the minute before `now`, of all functions together. */
export async function callsInLastMinute(
  client: DynamoDBClient,
  tableName: string,
  now: Date,
): Promise<number> {
  const from = callWindowKey(now.getTime() - 60_000);
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
      ExpressionAttributeValues: marshall({
        ":pk": from.pk,
        ":from": from.sk,
        ":to": callWindowKey(now.getTime()).sk,
      }),
    }),
  );
  return Items.reduce((sum, item) => sum + numberOf(unmarshall(item), "used"), 0);
}
