import type { WriteItem } from "./batching-writer.ts";
import { itemVersion } from "./items.ts";
import { canaryKey } from "./keys.ts";

/** Stores a canary, which the stream then reports. Idempotent. */
export type RecordCanary = (id: string) => Promise<void>;

const keptForSeconds = 86_400;

export function canaryTable(write: WriteItem, now: () => Date): RecordCanary {
  return async (id) => {
    const expiresAt = Math.floor(now().getTime() / 1_000) + keptForSeconds;
    await write({
      type: "insert",
      key: canaryKey(id),
      attributes: { schemaVersion: itemVersion, expiresAt },
    });
  };
}
