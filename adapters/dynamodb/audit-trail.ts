import {
  type DynamoDBClient,
  PutItemCommand,
  paginateQuery,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { fieldsOf } from "../../domain/core/parse.ts";
import { type ActOutcome, type OperatorAct, parseOperatorAct } from "../../domain/recovery/operator-act.ts";
import { auditKey, itemVersion, readItem } from "./keys.ts";

/** Stores operators' actions, one item each. */
export type AuditTrail = ReturnType<typeof auditTrail>;

/** @param days how long an action is kept; undefined: without limit */
export function auditTrail(client: DynamoDBClient, TableName: string, days: number | undefined) {
  return {
    begin: async (act: OperatorAct) => {
      const expiresAt = days === undefined ? undefined : Math.ceil(Date.parse(act.at) / 1000 + days * 86_400);
      const item = { ...auditKey(act.at, act.id), schemaVersion: itemVersion, expiresAt, audit: act };
      const Item = marshall(item, { removeUndefinedValues: true });
      await client.send(new PutItemCommand({ TableName, Item }));
    },
    end: async ({ at, id }: OperatorAct, outcome: ActOutcome, count: number | undefined) => {
      const values = { ":outcome": outcome, ":count": count };
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: marshall(auditKey(at, id)),
          // Does not recreate an action that has expired meanwhile.
          ConditionExpression: "attribute_exists(pk)",
          UpdateExpression: `SET audit.outcome = :outcome${count === undefined ? "" : ", audit.#count = :count"}`,
          ...(count !== undefined && { ExpressionAttributeNames: { "#count": "count" } }),
          ExpressionAttributeValues: marshall(values, { removeUndefinedValues: true }),
        }),
      );
    },
    /** Newest first. @param since ISO 8601 in UTC; undefined: all */
    list: async function* (since = "") {
      const query = {
        TableName,
        KeyConditionExpression: "pk = :pk AND sk >= :since",
        ExpressionAttributeValues: marshall({ ":pk": auditKey("", "").pk, ":since": since || " " }),
        ScanIndexForward: false,
      };
      for await (const { Items = [] } of paginateQuery({ client }, query))
        for (const item of Items) yield parseOperatorAct(fieldsOf(readItem(item).audit, "audit"));
    },
  };
}
