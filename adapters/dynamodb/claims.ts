import { type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { waiting } from "../../domain/core/failures.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { DataName } from "../../domain/fetch/document-name.ts";
import { type ConflictingItem, conflictOf } from "./conditional-write.ts";
import { itemVersion } from "./items.ts";
import { claimKey } from "./keys.ts";

/**
 * Claims a document just before it is called for, so that two who want the same of it don't both call. Only calls
 * are spared by it: whoever is refused keeps its task and looks again, so nothing depends on a claimant's lifetime.
 * @param noted what was wanted of the document when it was looked at, see `domain/fetch/document.ts`
 * @param lookedAt when that was: a claim that had ended by then left its result to be seen
 * @returns gives the claim back, for a call that failed
 * @throws a failure that waits for as long as the other's claim holds
 */
export type ClaimData = (subject: Subject, name: DataName, noted: number, lookedAt: Date) => Promise<Release>;
export type Release = () => Promise<void>;

const names = { "#noted": "noted", "#until": "until" };
/** Wanted more since, wanted for the first time, or left over by a process that is dead. */
const isFree = "attribute_not_exists(#noted) OR #noted < :noted OR (#noted = :noted AND #until <= :looked)";
const isStillMine = "#noted = :noted AND #until = :until";
const secondsPerDay = 86_400;

/** @param lifetimeInSeconds how long a claim holds: no claimant's process lives longer */
export function dataClaims(
  client: DynamoDBClient,
  tableName: string,
  lifetimeInSeconds: number,
  now: () => Date,
): ClaimData {
  return async (subject, name, noted, lookedAt) => {
    const until = now().getTime() + lifetimeInSeconds * 1000;
    const item = { TableName: tableName, Key: marshall(claimKey(subject, name)) };
    const claimed = await conflictOf(
      client.send(
        new UpdateItemCommand({
          ...item,
          UpdateExpression:
            "SET #noted = :noted, #until = :until, #expires = :expires, schemaVersion = :version",
          ConditionExpression: isFree,
          ExpressionAttributeNames: { ...names, "#expires": "expiresAt" },
          ExpressionAttributeValues: marshall({
            ":noted": noted,
            ":until": until,
            ":looked": lookedAt.getTime(),
            ":expires": Math.ceil(until / 1000) + secondsPerDay,
            ":version": itemVersion,
          }),
          ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        }),
      ),
    );
    if (claimed !== undefined)
      throw waiting("another task reads this data", secondsUntilEnd(claimed, now()), 0);
    return async () => {
      const giveBack = new UpdateItemCommand({
        ...item,
        UpdateExpression: "SET #until = :zero",
        ConditionExpression: isStillMine,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: marshall({ ":noted": noted, ":until": until, ":zero": 0 }),
      });
      // What can't be given back, or is another's by now, ends by itself.
      await client.send(giveBack).catch(() => undefined);
    };
  };
}

function secondsUntilEnd(claim: ConflictingItem, now: Date): number {
  const until = Number(unmarshall(claim).until ?? 0);
  return Math.max(1, Math.ceil((until - now.getTime()) / 1000));
}
