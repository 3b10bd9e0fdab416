import type { WriteItem } from "./batching-writer.ts";
import { itemVersion } from "./items.ts";
import { linkKey } from "./keys.ts";

/** Links an account to its user. Idempotent. */
export type Link = (userId: string, accountId: string) => Promise<void>;

export function linkTable(write: WriteItem): Link {
  return async (userId, accountId) => {
    const attributes = { schemaVersion: itemVersion };
    await write({ type: "insert", key: linkKey(userId, accountId), attributes });
  };
}
