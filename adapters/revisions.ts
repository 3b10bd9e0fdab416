import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateQuery,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { DataName } from "../domain/data-name.ts";
import { type DataSet, parseDataSet } from "../domain/data-set.ts";
import { retryable } from "../domain/failures.ts";
import type { Fields } from "../domain/parse.ts";
import { parseState, type State } from "../domain/state.ts";
import type { Subject } from "../domain/subjects.ts";
import { itemVersion, readItem } from "./items.ts";
import { dataSetKey, dataSetsOf, type Key, stateKey } from "./keys.ts";

/** Gives the next revision of what is known, or undefined where nothing changes. */
export type Change<T> = (known: T | undefined) => T | undefined;

/** Reads and revises records that carry a version: a revision is written only over the one that it was made of. */
export type Revisions = {
  readonly state: (subject: Subject, change: Change<State>) => Promise<void>;
  readonly dataSet: (subject: Subject, name: DataName, change: Change<DataSet>) => Promise<void>;
  readonly loadState: (subject: Subject) => Promise<State | undefined>;
  readonly loadDataSet: (subject: Subject, name: DataName) => Promise<DataSet | undefined>;
  /** All that is known of a subject's data, each range by itself. */
  readonly loadDataSets: (subject: Subject) => Promise<readonly DataSet[]>;
};

/** Writers of one record are few (its events, its fetch): a loser reads again, and rarely loses twice. */
const mostTries = 8;

const isAbsent = { ConditionExpression: "attribute_not_exists(pk)" };
const isStill = (version: number) => ({
  ConditionExpression: "#version = :before",
  ExpressionAttributeNames: { "#version": "version" },
  ExpressionAttributeValues: marshall({ ":before": version }),
});

export function revisions(client: DynamoDBClient, tableName: string): Revisions {
  const load = async (key: Key): Promise<Fields | undefined> => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: marshall(key), ConsistentRead: true }),
    );
    return Item === undefined ? undefined : readItem(Item);
  };

  const save = async (key: Key, attribute: string, next: { version: number }): Promise<boolean> => {
    const item = { ...key, schemaVersion: itemVersion, version: next.version, [attribute]: next };
    try {
      await client.send(
        new PutItemCommand({
          TableName: tableName,
          Item: marshall(item, { removeUndefinedValues: true }),
          ...(next.version === 1 ? isAbsent : isStill(next.version - 1)),
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  };

  const revise = async <T extends { version: number }>(
    key: Key,
    attribute: string,
    read: () => Promise<T | undefined>,
    change: Change<T>,
  ): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const next = change(await read());
      if (next === undefined || (await save(key, attribute, next))) return;
    }
    throw retryable("record contended", 1);
  };

  const loadState = async (subject: Subject) => {
    const item = await load(stateKey(subject));
    return item === undefined ? undefined : parseState(item.state);
  };
  const loadDataSet = async (subject: Subject, name: DataName) => {
    const item = await load(dataSetKey(subject, name));
    return item === undefined ? undefined : parseDataSet(item.data);
  };
  const loadDataSets = async (subject: Subject) => {
    const { pk, sk } = dataSetsOf(subject);
    const query = {
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :sk)",
      ExpressionAttributeValues: marshall({ ":pk": pk, ":sk": sk }),
      ConsistentRead: true,
    };
    const dataSets: DataSet[] = [];
    for await (const { Items = [] } of paginateQuery({ client }, query)) {
      dataSets.push(...Items.map((item) => parseDataSet(readItem(item).data)));
    }
    return dataSets;
  };
  return {
    loadState,
    loadDataSet,
    loadDataSets,
    state: (subject, change) => revise(stateKey(subject), "state", () => loadState(subject), change),
    dataSet: (subject, name, change) =>
      revise(dataSetKey(subject, name), "data", () => loadDataSet(subject, name), change),
  };
}
