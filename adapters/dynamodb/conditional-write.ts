import { type AttributeValue, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";

/** The item that failed a write's condition; empty unless the write sets `ReturnValuesOnConditionCheckFailure`. */
export type ConflictingItem = Readonly<Record<string, AttributeValue>>;

/**
 * Waits for a conditional write.
 * @returns undefined if it succeeded, else the item that failed its condition
 * @throws any other error of the write
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

/** Waits for a conditional write. @returns false if its condition failed @throws as `conflictOf` */
export async function isWritten(write: Promise<unknown>): Promise<boolean> {
  return (await conflictOf(write)) === undefined;
}
