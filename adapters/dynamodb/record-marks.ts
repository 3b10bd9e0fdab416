import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { relayMarkKey } from "./keys.ts";

/** Counts how often a stream record crashed the process that handled it. */
export type RecordMarks = {
  /** Marks a record before it is handled. @returns how many marks it already had */
  readonly add: (sequenceNumber: string) => Promise<number>;
  /** Clears a record's marks after it was handled, successfully or not. */
  readonly clear: (sequenceNumber: string) => Promise<void>;
};

/** Longer than the stream keeps a record. */
const keptForSeconds = 2 * 86_400;

export function recordMarks(client: DynamoDBClient, TableName: string, now: () => Date): RecordMarks {
  const update = async (sequenceNumber: string, UpdateExpression: string, marks: number) => {
    const expiresAt = Math.floor(now().getTime() / 1_000) + keptForSeconds;
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName,
        Key: marshall(relayMarkKey(sequenceNumber)),
        UpdateExpression,
        ExpressionAttributeValues: marshall({ ":marks": marks, ":end": expiresAt }),
        ReturnValues: "UPDATED_NEW",
      }),
    );
    return Number(Attributes?.marks?.N ?? marks);
  };
  return {
    add: async (sequenceNumber) =>
      (await update(sequenceNumber, "SET expiresAt = :end ADD marks :marks", 1)) - 1,
    clear: async (sequenceNumber) =>
      void (await update(sequenceNumber, "SET expiresAt = :end, marks = :marks", 0)),
  };
}
