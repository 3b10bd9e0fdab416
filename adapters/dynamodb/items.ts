import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { Fields } from "../../domain/core/parse.ts";
import { checkSchemaVersion } from "../../domain/message/schema-version.ts";

/** The version of items that this release writes. */
export const itemVersion = 1;

/**
 * Reads an item, or its image in the stream. One without a version is of the first: breaker, windows, claims and notes
 * had none in release 0.1.0.
 * @throws a retryable failure where it is of a later release
 */
export function readItem(item: Record<string, AttributeValue>): Fields {
  const fields = unmarshall(item);
  checkSchemaVersion(fields.schemaVersion ?? 1, itemVersion);
  return fields;
}
