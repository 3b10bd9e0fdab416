import { randomUUID } from "node:crypto";
import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { isWritten } from "../dynamodb/batching.ts";
import { itemVersion, sweepLeaseKey } from "../dynamodb/keys.ts";

/**
 * Lets one run at a time search the dead letters: two would hide messages from each other. A killed run keeps the
 * lease until its messages are visible again.
 * @returns a function that takes the lease for some seconds. It returns a function that releases the lease, or
 * undefined if another run has it.
 */
export function sweepLease(client: DynamoDBClient, TableName: string, now: () => Date) {
  return async (seconds: number): Promise<(() => Promise<void>) | undefined> => {
    const holder = randomUUID();
    const at = now().getTime() / 1000;
    const isTaken = await isWritten(
      client.send(
        new PutItemCommand({
          TableName,
          Item: marshall({
            ...sweepLeaseKey,
            schemaVersion: itemVersion,
            holder,
            expiresAt: Math.ceil(at + seconds),
          }),
          ConditionExpression: "attribute_not_exists(pk) OR expiresAt <= :now",
          ExpressionAttributeValues: marshall({ ":now": Math.floor(at) }),
        }),
      ),
    );
    if (!isTaken) return undefined;
    return async () => {
      await isWritten(
        client.send(
          new DeleteItemCommand({
            TableName,
            Key: marshall(sweepLeaseKey),
            ConditionExpression: "holder = :holder",
            ExpressionAttributeValues: marshall({ ":holder": holder }),
          }),
        ),
      );
    };
  };
}
