import { type DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { numberOf, textOf } from "../../domain/core/parse.ts";
import {
  type EraseTask,
  parseIncomplete,
  parseRefused,
  parseRemoved,
  type RefusedKind,
  type Removed,
} from "../../domain/recovery/erasure.ts";
import { isWritten } from "../dynamodb/conditional-write.ts";
import { itemVersion, readItem } from "../dynamodb/items.ts";
import { erasureReportKey } from "../dynamodb/keys.ts";

/** How far an erasure has come, for whoever follows it: counts, and nobody's id. */
export type ErasureReport = {
  readonly step: string;
  readonly isDone: boolean;
  /** Whether anybody was found; of nobody it may not be said that they are erased. */
  readonly isFound: boolean;
  /** Whether a legal hold kept it from being begun; absent: no. */
  readonly isHeld?: true;
  /** The subject, and what was found to be its own. */
  readonly subjects: number;
  readonly removed: Removed;
  /** Queues of dead letters that could not be searched. */
  readonly incomplete: readonly string[];
  /** Kinds of objects of which S3 refused some. */
  readonly refused: readonly RefusedKind[];
  /** Whether all else is done, and the erasure stays open until S3 gives what it refuses; absent: no. */
  readonly isWaiting?: true;
};

/** How a step ended; `held`: the erasure was not begun, `waiting`: S3 refuses objects that may name the erased. */
export type StepOutcome = "going on" | "waiting" | "done" | "held";

export type KeepReport = (task: EraseTask, outcome: StepOutcome) => Promise<void>;

const lifetimeInSeconds = 86_400;

export function keepReport(client: DynamoDBClient, tableName: string, now: () => Date): KeepReport {
  return async ({ id, next, erased, isFound, removed, incomplete, refused }, outcome) => {
    if (id === undefined) return;
    const isDone = outcome === "done" || outcome === "held";
    const counts = { subjects: erased.length, removed, incomplete, refused };
    const report = { step: next, isDone, isFound, ...counts };
    const expiresAt = Math.ceil(now().getTime() / 1000) + lifetimeInSeconds;
    const state = {
      ...(outcome === "held" && { isHeld: true }),
      ...(outcome === "waiting" && { isWaiting: true }),
    };
    const item = { ...erasureReportKey(id), schemaVersion: itemVersion, expiresAt, ...report, ...state };
    // A copy of a step that comes when its records are gone finds fewer than the first one did.
    const isNoCopy = "(attribute_not_exists(subjects) OR subjects <= :subjects)";
    // A step says last how far it came: the steps after it may have come to the end before.
    const isNotOver = isDone ? "" : " AND (attribute_not_exists(isDone) OR isDone = :false)";
    await isWritten(
      client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: marshall(item),
          ConditionExpression: `${isNoCopy}${isNotOver}`,
          ExpressionAttributeValues: marshall({
            ":subjects": erased.length,
            ...(isDone ? {} : { ":false": false }),
          }),
        }),
      ),
    );
  };
}

/** @returns undefined while the erasure has not begun */
export async function readReport(
  client: DynamoDBClient,
  tableName: string,
  id: string,
): Promise<ErasureReport | undefined> {
  const Key = marshall(erasureReportKey(id));
  const { Item } = await client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }));
  if (Item === undefined) return undefined;
  const item = readItem(Item);
  return {
    step: textOf(item, "step"),
    isDone: item.isDone === true,
    isFound: item.isFound === true,
    ...(item.isHeld === true && { isHeld: true }),
    subjects: numberOf(item, "subjects"),
    removed: parseRemoved(item.removed),
    incomplete: parseIncomplete(item.incomplete),
    refused: parseRefused(item.refused),
    ...(item.isWaiting === true && { isWaiting: true }),
  };
}
