import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { Fields } from "../../domain/core/parse.ts";
import { checkSchemaVersion } from "../../domain/message/schema-version.ts";

/** The schema version of items that this release writes. */
export const itemVersion = 1;

/**
 * Reads an item, or its image in the stream. An item without a version counts as version 1: release 0.1.0 wrote the
 * breaker, windows, claims and notes without one.
 * @throws retryable failure if a later release wrote it
 */
export function readItem(item: Record<string, AttributeValue>): Fields {
  const fields = unmarshall(item);
  checkSchemaVersion(fields.schemaVersion ?? 1, itemVersion);
  return fields;
}
