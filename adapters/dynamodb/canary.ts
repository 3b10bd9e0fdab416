import type { WriteItem } from "./batching-writer.ts";
import { canaryKey, itemVersion } from "./keys.ts";

const keptForSeconds = 86_400;

/** Stores a canary, which the stream then reports. Idempotent. */
export function canaryTable(write: WriteItem, now: () => Date) {
  return async (id: string): Promise<void> => {
    const expiresAt = Math.floor(now().getTime() / 1_000) + keptForSeconds;
    await write({
      type: "insert",
      key: canaryKey(id),
      attributes: { schemaVersion: itemVersion, expiresAt },
    });
  };
}
