import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { parseRun, type Run } from "../domain/reconciliation.ts";
import { itemVersion, readItem } from "./items.ts";
import { reconciliationKey } from "./keys.ts";

/** Keeps the run of reconciliation between two ticks. */
export type Checkpoint = {
  readonly load: () => Promise<Run | undefined>;
  /**
   * Writes a step over the one before it.
   * @returns the run as it was written; undefined where another tick has written its own step there
   */
  readonly save: (run: Run) => Promise<Run | undefined>;
};

export function checkpoint(client: DynamoDBClient, tableName: string): Checkpoint {
  return {
    load: async () => {
      const { Item } = await client.send(
        new GetItemCommand({ TableName: tableName, Key: marshall(reconciliationKey), ConsistentRead: true }),
      );
      return Item === undefined ? undefined : parseRun(readItem(Item).run);
    },
    save: async (step) => {
      const run = { ...step, version: step.version + 1 };
      const item = { ...reconciliationKey, schemaVersion: itemVersion, version: run.version, run };
      try {
        await client.send(
          new PutItemCommand({
            TableName: tableName,
            Item: marshall(item, { removeUndefinedValues: true }),
            ConditionExpression: "attribute_not_exists(pk) OR #version = :before",
            ExpressionAttributeNames: { "#version": "version" },
            ExpressionAttributeValues: marshall({ ":before": step.version }),
          }),
        );
        return run;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return undefined;
        throw error;
      }
    },
  };
}
