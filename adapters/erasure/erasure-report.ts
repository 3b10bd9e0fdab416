import { type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
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
import { isWritten, itemReader } from "../dynamodb/batching.ts";
import { erasureReportKey, itemVersion } from "../dynamodb/keys.ts";

/** Progress of an erasure. It contains counts and no ids. */
export type ErasureReport = {
  readonly step: string;
  readonly isDone: boolean;
  /** Whether the subject was found. If not, don't report it as erased. */
  readonly isFound: boolean;
  /** Whether a legal hold prevented the erasure; absent: no. */
  readonly isHeld?: true;
  /** Number of subjects: the erased one, and those that belong to it. */
  readonly subjects: number;
  readonly removed: Removed;
  /** Queues of dead letters that could not be searched. */
  readonly incomplete: readonly string[];
  /** Kinds of objects that S3 refused to return, at least some of them. */
  readonly refused: readonly RefusedKind[];
  /** Whether only objects that S3 refuses are left, which keep the erasure open; absent: no. */
  readonly isWaiting?: true;
};

/**
 * How a step ended. `held`: a legal hold prevented the erasure. `waiting`: S3 refuses objects that may name the
 * erased subject.
 */
export type StepOutcome = "going on" | "waiting" | "done" | "held";

const lifetimeInSeconds = 86_400;

/** @returns a function that stores the report of an erasure after a step */
export function reportWriter(client: DynamoDBClient, tableName: string, now: () => Date) {
  return async (task: EraseTask, outcome: StepOutcome): Promise<void> => {
    const { id, next, erased, isFound, removed, incomplete, refused } = task;
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
    // A duplicate of a step that runs after its records are deleted finds fewer than the first run.
    const isNoCopy = "(attribute_not_exists(subjects) OR subjects <= :subjects)";
    // A step writes its report last, so later steps may already have finished.
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
  const item = await itemReader(client, tableName)(erasureReportKey(id));
  if (item === undefined) return undefined;
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
