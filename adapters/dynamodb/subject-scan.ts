import { type DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { textOf } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { subjectOfPartition } from "./keys.ts";

/** A page of a scan: how many items were read, and the subjects of their partitions, each once. */
export type SubjectPage = { readonly items: number; readonly subjects: readonly Subject[] };

/** Reads the whole table to list its subjects. AWS bills the size of the table. */
export async function* scanSubjects(client: DynamoDBClient, tableName: string): AsyncGenerator<SubjectPage> {
  const scan = { TableName: tableName, ProjectionExpression: "pk", ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, scan)) {
    const subjects = Items.flatMap((item) => subjectOfPartition(textOf(unmarshall(item), "pk")) ?? []);
    yield {
      items: Items.length,
      subjects: [...new Map(subjects.map((each) => [nameOf(each), each])).values()],
    };
  }
}
