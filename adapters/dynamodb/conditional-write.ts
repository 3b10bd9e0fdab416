import { type AttributeValue, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";

/** The item that failed a write's condition: empty unless the write asks for it by `ReturnValuesOnConditionCheckFailure`. */
export type ConflictingItem = Readonly<Record<string, AttributeValue>>;

/**
 * Waits for a write under a condition.
 * @returns undefined where it is made, else the item on which its condition failed
 * @throws whatever else keeps it from being made
 */
export async function conflictOf(write: Promise<unknown>): Promise<ConflictingItem | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error.Item ?? {};
    throw error;
  }
}

/** Waits for a write under a condition. @returns false where the condition failed @throws as `conflictOf` */
export async function isWritten(write: Promise<unknown>): Promise<boolean> {
  return (await conflictOf(write)) === undefined;
}
