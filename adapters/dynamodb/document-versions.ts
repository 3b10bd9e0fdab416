import { type DynamoDBClient, GetItemCommand, paginateQuery, QueryCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type Fields, fieldsOf, numberOf } from "../../domain/core/parse.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import type { DataName } from "../../domain/fetch/document.ts";
import type { VersionWanted } from "../../domain/read/route.ts";
import { readDocument, type StoredDocument } from "./documents.ts";
import { partitionOf, readItem, versionKey, versionPrefix } from "./keys.ts";

/** A superseded version of a document, with the version that superseded it. */
export type StoredVersion = StoredDocument & { readonly supersededAt: number };

/** Reads superseded versions, consistently. Skips expired versions that DynamoDB has not deleted yet. */
export type DocumentVersions = ReturnType<typeof documentVersions>;

/**
 * Finds the superseded version that a request asks for.
 * @returns undefined if it is not kept, or the request asks for none
 */
export async function supersededVersion(
  { exactly, at }: Pick<DocumentVersions, "exactly" | "at">,
  { subject, name }: { readonly subject: Subject; readonly name: DataName },
  { version, asOf }: VersionWanted,
): Promise<StoredVersion | undefined> {
  if (version !== undefined) return exactly(subject, name, version);
  return asOf === undefined ? undefined : at(subject, name, asOf);
}

/** The read function's role may read only these attributes (lib/reading/read-api.ts). */
const projection = {
  ProjectionExpression: "pk, sk, schemaVersion, #document, expiresAt",
  ExpressionAttributeNames: { "#document": "document" },
};

export function documentVersions(client: DynamoDBClient, TableName: string, now: () => Date) {
  const unexpired = (item: Fields): readonly StoredVersion[] => {
    const { expiresAt } = item;
    if (typeof expiresAt === "number" && expiresAt * 1000 <= now().getTime()) return [];
    const supersededAt = numberOf(fieldsOf(item.document, "document"), "supersededAt");
    return [{ ...readDocument(item), supersededAt }];
  };
  const lastUntil = async (subject: Subject, name: DataName, time: number) => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        ...between(subject, versionKey(subject, name, 0).sk, versionKey(subject, name, Math.max(0, time)).sk),
        ...projection,
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: 1,
      }),
    );
    return Items.flatMap((item) => unexpired(readItem(item)))[0];
  };
  return {
    exactly: async (subject: Subject, name: DataName, version: number) => {
      const Key = marshall(versionKey(subject, name, version));
      const get = new GetItemCommand({ TableName, Key, ...projection, ConsistentRead: true });
      const { Item } = await client.send(get);
      return Item === undefined ? undefined : unexpired(readItem(Item))[0];
    },
    /** The version that was current at `time`, in milliseconds since 1970. */
    at: async (subject: Subject, name: DataName, time: number) => {
      const found = await lastUntil(subject, name, time);
      // The version after it may have been deleted, or the provider may have had no data then.
      return found !== undefined && time < found.supersededAt ? found : undefined;
    },
    /** The last version before `version`. */
    before: (subject: Subject, name: DataName, version: number) => lastUntil(subject, name, version - 1),
    /** The versions of one document, newest first; without a name, of all the subject's documents. */
    all: async (subject: Subject, name?: DataName) => {
      const first = name === undefined ? versionPrefix : versionKey(subject, name, 0).sk;
      const last = name === undefined ? `${versionPrefix}~` : versionKey(subject, name, lastTime).sk;
      const query = {
        TableName,
        ...between(subject, first, last),
        ...projection,
        ConsistentRead: true,
        ScanIndexForward: false,
      };
      const found: StoredVersion[] = [];
      for await (const { Items = [] } of paginateQuery({ client }, query))
        found.push(...Items.flatMap((item) => unexpired(readItem(item))));
      return found;
    },
  };
}

const lastTime = Number.MAX_SAFE_INTEGER;

function between(subject: Subject, first: string, last: string) {
  return {
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :first AND :last",
    ExpressionAttributeValues: marshall({ ":pk": partitionOf(subject), ":first": first, ":last": last }),
  };
}
