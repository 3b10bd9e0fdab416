import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { Body } from "../../domain/event/envelope.ts";
import { type IncomeEvent, isUnordered } from "../../domain/event/events.ts";
import { ownerOf } from "../../domain/event/subjects.ts";
import { itemVersion } from "./items.ts";
import { eventKey } from "./keys.ts";

/** One receipt of an event, with the body that it came from (credentials dropped). */
export type Receipt = { readonly event: IncomeEvent; readonly body: Body };
export type RecordReceipt = (receipt: Receipt) => Promise<"first" | "again">;

const secondsPerDay = 86_400;

// The first receipt inserts, later ones only count: no claim, no lease, no second write, no exception.
const upsert = [
  "SET #event = if_not_exists(#event, :event)",
  "#body = if_not_exists(#body, :body)",
  "#weak = if_not_exists(#weak, :weak)",
  "#expires = if_not_exists(#expires, :expires)",
  "#version = if_not_exists(#version, :version) ADD #receipts :one",
].join(", ");
const names = {
  "#event": "event",
  "#body": "body",
  "#weak": "weak",
  "#expires": "expiresAt",
  "#version": "schemaVersion",
  "#receipts": "receipts",
};

/**
 * Records receipts of events with one write each (see docs/adr/0001). `weak` stands outside of the event for
 * the relay's filter; `expiresAt` is the time to live in epoch seconds.
 */
export function eventTable(
  client: DynamoDBClient,
  tableName: string,
  retentionInDays: number,
): RecordReceipt {
  return async ({ event, body }) => {
    const receivedAt = Math.floor(Date.parse(event.receivedAt) / 1000);
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: marshall(eventKey(ownerOf(event), event.id)),
        UpdateExpression: upsert,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: marshall(
          {
            ":event": event,
            ":body": body,
            ":weak": isUnordered(event),
            ":expires": receivedAt + Math.round(retentionInDays * secondsPerDay),
            ":version": itemVersion,
            ":one": 1,
          },
          { removeUndefinedValues: true },
        ),
        // The old values are empty on the first receipt, and cost nothing.
        ReturnValues: "UPDATED_OLD",
      }),
    );
    return Attributes?.receipts === undefined ? "first" : "again";
  };
}
