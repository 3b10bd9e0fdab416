import { type DynamoDBClient, paginateScan, QueryCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { batchesOf } from "../../domain/core/batches.ts";
import { textOf } from "../../domain/core/parse.ts";
import { loggedNameIndex, type Subject } from "../../domain/event/subjects.ts";
import { subjectOfPartition } from "./keys.ts";

const maxConcurrentQueries = 50;

/** Looks up stored subjects by their names in logs. Erased subjects are not found. Eventually consistent. */
export function loggedNames(client: DynamoDBClient, tableName: string) {
  const index = { TableName: tableName, IndexName: loggedNameIndex.name };
  const query = async (name: string): Promise<Subject | undefined> => {
    const { Items = [] } = await client.send(
      new QueryCommand({
        ...index,
        KeyConditionExpression: `${loggedNameIndex.attribute} = :name`,
        ExpressionAttributeValues: marshall({ ":name": name }),
        Limit: 1,
      }),
    );
    return Items.map(subjectIn)[0];
  };
  return {
    /** Subjects by their names in logs. */
    subjectsOf: async (names: ReadonlySet<string>) => {
      const found = new Map<string, Subject>();
      for (const batch of batchesOf([...names], { maxItems: maxConcurrentQueries }))
        await Promise.all(
          batch.map(async (name) => {
            const subject = await query(name);
            if (subject !== undefined) found.set(name, subject);
          }),
        );
      return found;
    },
    /** Up to `limit` subjects with a text in their ids. Reads the whole index, about 100 bytes for each subject. */
    find: async (part: string, limit: number) => {
      const found: Subject[] = [];
      const scan = {
        ...index,
        FilterExpression: "contains(pk, :part)",
        ExpressionAttributeValues: marshall({ ":part": part }),
      };
      for await (const { Items = [] } of paginateScan({ client }, scan)) {
        const subjects = Items.flatMap((item) => subjectIn(item) ?? []);
        found.push(...subjects.filter(({ id }) => id.includes(part)));
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
  };
}

function subjectIn(item: Parameters<typeof unmarshall>[0]): Subject | undefined {
  return subjectOfPartition(textOf(unmarshall(item), "pk"));
}
