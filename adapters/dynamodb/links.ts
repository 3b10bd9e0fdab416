import type { WriteItem } from "./batching-writer.ts";
import { itemVersion } from "./items.ts";
import { linkKey } from "./keys.ts";

/** @returns a function that links an account to its user. Idempotent. */
export function linkTable(write: WriteItem) {
  return async (userId: string, accountId: string): Promise<void> => {
    const attributes = { schemaVersion: itemVersion };
    await write({ type: "insert", key: linkKey(userId, accountId), attributes });
  };
}
