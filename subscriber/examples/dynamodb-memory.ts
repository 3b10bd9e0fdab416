import { BatchGetItemCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { Memory } from "../index.ts";

/** Longer than a message can come again: queues keep fourteen days, and what was archived is sent later. */
const keptSeconds = 60 * 86_400;

/** A memory in a table whose key is `pk`, a text, and whose time to live is `expires`. */
export function dynamoDbMemory(client: DynamoDBClient, table: string): Memory {
  return {
    recall: async (id, series) => {
      const keys = [`id ${id}`, ...(series === undefined ? [] : [`series ${series}`])];
      const asked = { Keys: keys.map((pk) => ({ pk: { S: pk } })), ConsistentRead: true };
      const command = new BatchGetItemCommand({ RequestItems: { [table]: asked } });
      const { Responses = {}, UnprocessedKeys = {} } = await client.send(command);
      if (UnprocessedKeys[table] !== undefined)
        throw new Error("DynamoDB did not read all that it was asked for");
      const find = (key: string | undefined) => Responses[table]?.find(({ pk }) => pk?.S === key);
      return { isHandled: find(keys[0]) !== undefined, newest: find(keys[1])?.newest?.S };
    },
    remember: async ({ id, place }) => {
      if (place !== undefined) await keepNewest(`series ${place.series}`, place.sequence);
      const expires = String(Math.floor(Date.now() / 1000) + keptSeconds);
      const Item = { pk: { S: `id ${id}` }, expires: { N: expires } };
      await client.send(new PutItemCommand({ TableName: table, Item }));
    },
  };

  async function keepNewest(pk: string, sequence: string): Promise<void> {
    const command = new PutItemCommand({
      TableName: table,
      Item: { pk: { S: pk }, newest: { S: sequence } },
      ConditionExpression: "attribute_not_exists(newest) OR newest < :sequence",
      ExpressionAttributeValues: { ":sequence": { S: sequence } },
    });
    await client.send(command).catch((error: unknown) => {
      // Another process was faster with a newer message.
      if (!(error instanceof Error && error.name === "ConditionalCheckFailedException")) throw error;
    });
  }
}
