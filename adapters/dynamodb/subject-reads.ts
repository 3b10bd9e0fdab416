import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { batchesOf } from "../../domain/core/batches.ts";
import { retryable } from "../../domain/core/failures.ts";
import { textOf } from "../../domain/core/parse.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import type { DataName } from "../../domain/fetch/document.ts";
import { parseState, type State } from "../../domain/state/state.ts";
import type { Item } from "./batching.ts";
import { readDocument } from "./documents.ts";
import { queryPartition } from "./event-table.ts";
import {
  documentKey,
  documentPrefix,
  type Key,
  linkKey,
  linkPrefix,
  partitionOf,
  readItem,
  stateKey,
  subjectOfPartition,
} from "./keys.ts";

/** The function's role may read only these attributes (lib/reading/read-api.ts). */
const projection = {
  ProjectionExpression: "pk, sk, schemaVersion, #state, #document",
  ExpressionAttributeNames: { "#state": "state", "#document": "document" },
};

/** Reads the states and documents of subjects, consistently. Never reads events. */
export function subjectReads(client: DynamoDBClient, TableName: string) {
  const get = async (key: Key): Promise<Item | undefined> => {
    const command = new GetItemCommand({
      TableName,
      Key: marshall(key),
      ...projection,
      ConsistentRead: true,
    });
    return (await client.send(command)).Item;
  };
  const query = (key: Key) => queryPartition(client, TableName, key, projection);
  return {
    state: async (subject: Subject) => {
      const item = await get(stateKey(subject));
      return item && parseState(readItem(item).state);
    },
    document: async (subject: Subject, name: DataName) => {
      const item = await get(documentKey(subject, name));
      return item && readDocument(readItem(item));
    },
    documents: (subject: Subject) => {
      const items = query({ pk: partitionOf(subject), sk: documentPrefix });
      return Array.fromAsync(items, (item) => readDocument(readItem(item)));
    },
    /** The states of a user's accounts, sorted by id. */
    accounts: async (userId: string) => {
      const links = query(linkKey(userId, ""));
      const ids = await Array.fromAsync(links, (link) =>
        textOf(readItem(link), "sk").slice(linkPrefix.length),
      );
      const found: State[] = [];
      for (const batch of batchesOf(ids, { maxItems: 100 })) {
        const Keys = batch.map((id) => marshall(stateKey({ kind: "account", id })));
        const RequestItems = { [TableName]: { Keys, ...projection, ConsistentRead: true } };
        const { Responses = {}, UnprocessedKeys = {} } = await client.send(
          new BatchGetItemCommand({ RequestItems }),
        );
        if (Object.keys(UnprocessedKeys).length > 0)
          throw retryable("DynamoDB does not answer for every item", 1);
        found.push(
          ...Object.values(Responses)
            .flat()
            .map((item) => parseState(readItem(item).state)),
        );
      }
      return found.toSorted((one, other) => (one.subject.id < other.subject.id ? -1 : 1));
    },
  };
}

/** A page of a scan: how many items were read, and the subjects of their partitions, each once. */
type SubjectPage = { readonly examined: number; readonly subjects: readonly Subject[] };

/** Reads the whole table to list its subjects. AWS bills the size of the table. */
export async function* scanSubjects(client: DynamoDBClient, tableName: string): AsyncGenerator<SubjectPage> {
  const scan = { TableName: tableName, ProjectionExpression: "pk", ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, scan)) {
    const subjects = Items.flatMap((item) => subjectOfPartition(textOf(unmarshall(item), "pk")) ?? []);
    yield {
      examined: Items.length,
      subjects: [...new Map(subjects.map((each) => [nameOf(each), each])).values()],
    };
  }
}
