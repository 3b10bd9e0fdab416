import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { checkSchemaVersion } from "../../domain/core/parse.ts";
import { readDocument, type StoredDocument } from "./documents.ts";
import { documentPrefix, itemVersion, type Key } from "./keys.ts";
import { scanTable } from "./table-scan.ts";

export type DocumentPage = {
  readonly documents: readonly StoredDocument[];
  /** How many items the scan read. */
  readonly examined: number;
  /** Where to resume; absent on the last page. */
  readonly last?: Key;
};

/** All documents of the table, in no order. See `scanTable` for the cost. @param after where to resume */
export async function* scanDocuments(
  client: DynamoDBClient,
  tableName: string,
  after?: Key,
): AsyncGenerator<DocumentPage> {
  const wanted = { sortKeys: [documentPrefix], attributes: ["schemaVersion", "document"] };
  for await (const { items, ...page } of scanTable(client, tableName, {
    ...wanted,
    ...(after && { after }),
  })) {
    const documents = items.map((item) => {
      checkSchemaVersion(item.schemaVersion, itemVersion);
      return readDocument(item);
    });
    yield { documents, ...page };
  }
}
