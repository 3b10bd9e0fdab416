import { BatchGetItemCommand, type DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { retryable } from "../domain/failures.ts";
import { textOf } from "../domain/parse.ts";
import { nameOf, type Subject } from "../domain/subjects.ts";
import { itemVersion } from "./items.ts";
import { tombstoneKey } from "./keys.ts";
import type { DigestOf } from "./subject-digest.ts";

/** What stands in the place of an erased subject: when it was erased first, and whether subscribers were told. */
export type Tombstone = { readonly erasedAt: string; readonly isTold: boolean };

/** Who of some subjects is erased, by name; one consistent read for all of them. */
export type FindErased = (subjects: readonly Subject[]) => Promise<ReadonlySet<string>>;

/** DynamoDB: keys of one request. */
const mostKeys = 100;
/** What DynamoDB left out of an answer is asked for again so often. */
const mostTries = 4;

export function findErased(client: DynamoDBClient, tableName: string, digestOf: DigestOf): FindErased {
  return async (subjects) => {
    const names = new Map<string, string>();
    for (const subject of subjects) names.set(tombstoneKey(await digestOf(subject)).pk, nameOf(subject));
    const partitions = [...names.keys()];
    const found: string[] = [];
    for (let start = 0; start < partitions.length; start += mostKeys) {
      found.push(...(await readSome(client, tableName, partitions.slice(start, start + mostKeys))));
    }
    return new Set(found.flatMap((partition) => names.get(partition) ?? []));
  };
}

/** @throws retryable failure where DynamoDB does not answer for all: who is erased must not be guessed */
async function readSome(
  client: DynamoDBClient,
  tableName: string,
  partitions: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  let left = partitions.map((pk) => marshall({ ...tombstoneKey(""), pk }));
  for (let tries = 0; left.length > 0; tries += 1) {
    if (tries === mostTries) throw retryable("DynamoDB does not answer for every tombstone", 1);
    const request = { Keys: left, ConsistentRead: true, ProjectionExpression: "pk" };
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [tableName]: request } }),
    );
    found.push(
      ...Object.values(Responses).flatMap((items) => items.map((item) => textOf(unmarshall(item), "pk"))),
    );
    left = Object.values(UnprocessedKeys).flatMap(({ Keys = [] }) => Keys);
  }
  return found;
}

/** Tombstones as an erasure places them. Items hold digests only. */
export type Tombstones = {
  /** Places one, or lets one that is there live on. */
  readonly place: (digest: string) => Promise<Tombstone>;
  /** Subscribers know. */
  readonly markTold: (digest: string) => Promise<void>;
};

const secondsPerDay = 86_400;

/** @param lifeInDays how long a copy of what was erased can turn up */
export function tombstones(
  client: DynamoDBClient,
  tableName: string,
  lifeInDays: number,
  now: () => Date,
): Tombstones {
  return {
    place: async (digest) => {
      const { Attributes = {} } = await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(tombstoneKey(digest)),
          UpdateExpression:
            "SET #erased = if_not_exists(#erased, :now), #expires = :expires, #version = :version",
          ExpressionAttributeNames: {
            "#erased": "erasedAt",
            "#expires": "expiresAt",
            "#version": "schemaVersion",
          },
          ExpressionAttributeValues: marshall({
            ":now": now().toISOString(),
            ":expires": Math.ceil(now().getTime() / 1000 + lifeInDays * secondsPerDay),
            ":version": itemVersion,
          }),
          ReturnValues: "ALL_NEW",
        }),
      );
      const item = unmarshall(Attributes);
      return { erasedAt: textOf(item, "erasedAt"), isTold: item.isTold === true };
    },
    markTold: async (digest) => {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(tombstoneKey(digest)),
          UpdateExpression: "SET isTold = :true",
          ExpressionAttributeValues: marshall({ ":true": true }),
        }),
      );
    },
  };
}
