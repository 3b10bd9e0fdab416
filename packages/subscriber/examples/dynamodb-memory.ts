import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { keptDays, type Memory } from "../index.ts";

/** A memory in a DynamoDB table with the key `pk` (a string) and the time to live `expires`. */
export function dynamoDbMemory(client: DynamoDBClient, table: string, now: () => number = Date.now): Memory {
  const seconds = () => Math.floor(now() / 1000);
  const expires = () => ({ N: String(seconds() + keptDays * 86_400) });
  return {
    recall: async (id, series) => {
      const keys = [`id ${id}`, ...(series === undefined ? [] : [`series ${series}`])];
      const asked = { Keys: keys.map((pk) => ({ pk: { S: pk } })), ConsistentRead: true };
      const command = new BatchGetItemCommand({ RequestItems: { [table]: asked } });
      const { Responses = {}, UnprocessedKeys = {} } = await client.send(command);
      if (UnprocessedKeys[table] !== undefined) throw new Error("DynamoDB returned unprocessed keys");
      // DynamoDB deletes expired items with a delay of days.
      const isKept = (item: Record<string, AttributeValue>) => Number(item.expires?.N) > seconds();
      const find = (key: string | undefined) =>
        Responses[table]?.find((item) => item.pk?.S === key && isKept(item));
      return { isHandled: find(keys[0]) !== undefined, newest: find(keys[1])?.newest?.S };
    },
    remember: async ({ id, place }) => {
      if (place !== undefined) await keepNewest(`series ${place.series}`, place.sequence);
      await client.send(
        new PutItemCommand({ TableName: table, Item: { pk: { S: `id ${id}` }, expires: expires() } }),
      );
    },
  };

  async function keepNewest(pk: string, sequence: string): Promise<void> {
    const command = new PutItemCommand({
      TableName: table,
      Item: { pk: { S: pk }, newest: { S: sequence }, expires: expires() },
      ConditionExpression: "attribute_not_exists(pk) OR newest < :sequence OR expires <= :now",
      ExpressionAttributeValues: { ":sequence": { S: sequence }, ":now": { N: String(seconds()) } },
    });
    await client.send(command).catch((error: unknown) => {
      // Another process was faster with a newer message.
      if (!(error instanceof Error && error.name === "ConditionalCheckFailedException")) throw error;
    });
  }
}
