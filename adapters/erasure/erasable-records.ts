import {
  DeleteItemCommand,
  type DynamoDBClient,
  paginateQuery,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { isFields, optionalText, present } from "../../domain/core/parse.ts";
import { isEventType, subjectKindOf } from "../../domain/event/events.ts";
import type { Subject } from "../../domain/event/subjects.ts";
import { isWritten } from "../dynamodb/conditional-write.ts";
import {
  documentPrefix,
  type Key,
  linkPrefix,
  partitionOf,
  replayKey,
  supersededPrefix,
  versionPrefix,
} from "../dynamodb/keys.ts";

/** An item of a subject's partition, as an erasure sees it. */
export type ErasableRecord = {
  readonly key: Key;
  /** `events`, `states` and so on: what a report counts. */
  readonly kind: string;
  /** Whom it names: its own user, or accounts. */
  readonly named: readonly Subject[];
  /** Whether it says whose an account is: its state, its link to its user, or one of its own events. */
  readonly saysOwner: boolean;
  /** Of an account's state: whose it is. */
  readonly ownerId?: string;
  /** The user whom a document names, or the last event that changed a state. */
  readonly lastUserId?: string;
  /** The object that holds the event's body. */
  readonly bodyObject?: string;
};

export type ErasableRecords = {
  /** All of a partition, a page at a time. */
  readonly pagesOf: (subject: Subject) => AsyncIterable<readonly ErasableRecord[]>;
  /** Removes the last event from a state, or the user's id from a document, where it still names that user. */
  readonly forgetLastEvent: (record: ErasableRecord) => Promise<void>;
  /** @returns whether it was there: another erasure may have been first */
  readonly remove: (record: Pick<ErasableRecord, "key">) => Promise<boolean>;
  /** Replays that are to be gone on with, as texts: they name their subject, and the item that they have come to. */
  readonly replays: () => Promise<readonly { readonly key: Key; readonly text: string }[]>;
};

const kindsByPrefix = {
  "EVENT#": "events",
  STATE: "states",
  [documentPrefix]: "documents",
  [versionPrefix]: "versions",
  [supersededPrefix]: "notes of objects",
  HOLD: "holds",
  READINESS: "readiness",
  [linkPrefix]: "links",
};

/** Of documents, which hold their data, only whose they are. */
const projection = {
  ProjectionExpression:
    "pk, sk, #event, #body.#key, #state.#userId, #state.#latest.#event, #document.#userId",
  ExpressionAttributeNames: {
    "#event": "event",
    "#body": "body",
    "#key": "key",
    "#document": "document",
    "#state": "state",
    "#latest": "latest",
    "#userId": "userId",
  },
};

export function erasableRecords(client: DynamoDBClient, tableName: string): ErasableRecords {
  return {
    replays: async () => {
      const found: { key: Key; text: string }[] = [];
      const query = {
        TableName: tableName,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: marshall({ ":pk": replayKey("").pk }),
        ConsistentRead: true,
      };
      for await (const { Items = [] } of paginateQuery({ client }, query)) {
        for (const item of Items.map((raw) => unmarshall(raw)))
          found.push({ key: keyOf(item), text: JSON.stringify(item) });
      }
      return found;
    },
    pagesOf: async function* (subject) {
      const query = {
        TableName: tableName,
        KeyConditionExpression: "pk = :pk",
        ...projection,
        ExpressionAttributeValues: marshall({ ":pk": partitionOf(subject) }),
        ConsistentRead: true,
      };
      for await (const { Items = [] } of paginateQuery({ client }, query)) {
        yield Items.map((item) => readRecord(unmarshall(item)));
      }
    },
    forgetLastEvent: async ({ key, lastUserId }) => {
      await isWritten(
        client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: marshall(key),
            ...forgetting(key, lastUserId),
          }),
        ),
      );
    },
    remove: async ({ key }) => {
      const item = { TableName: tableName, Key: marshall(key) };
      return isWritten(
        client.send(new DeleteItemCommand({ ...item, ConditionExpression: "attribute_exists(pk)" })),
      );
    },
  };
}

function forgetting({ sk }: Key, userId: string | undefined) {
  if (sk.startsWith(documentPrefix) || sk.startsWith(versionPrefix)) {
    return {
      UpdateExpression: "REMOVE #document.#userId",
      ConditionExpression: "#document.#userId = :user",
      ExpressionAttributeNames: { "#document": "document", "#userId": "userId" },
      ExpressionAttributeValues: marshall({ ":user": userId }),
    };
  }
  return {
    // What has no message of its own: nothing is announced again.
    UpdateExpression: "SET #state.#latest = :again",
    ConditionExpression: "#state.#latest.#event.#userId = :user",
    ExpressionAttributeNames: {
      "#state": "state",
      "#latest": "latest",
      "#event": "event",
      "#userId": "userId",
    },
    ExpressionAttributeValues: marshall({ ":again": { cause: "again" }, ":user": userId }),
  };
}

/** Nothing is refused here: what can't be read must go all the same. */
export function readRecord(item: Readonly<Record<string, unknown>>): ErasableRecord {
  const key = keyOf(item);
  const [, kind = "others"] =
    Object.entries(kindsByPrefix).find(([prefix]) => key.sk.startsWith(prefix)) ?? [];
  const bodyObject = textAt(item, "body", "key");
  return {
    key,
    kind,
    named: namedBy(key, item),
    saysOwner: saysOwner(kind, item),
    ...present({
      bodyObject,
      ownerId: textAt(item, "state", "userId"),
      lastUserId: textAt(item, "document", "userId") ?? textAt(item, "state", "latest", "event", "userId"),
    }),
  };
}

/** A link says it, and so does an event of the account itself. */
function saysOwner(kind: string, item: Readonly<Record<string, unknown>>): boolean {
  const type = textAt(item, "event", "type");
  return kind === "links" || (isEventType(type) && subjectKindOf(type) !== "endpoint");
}

/** Whom an item names: its own user, or accounts. */
export function namedBy({ sk }: Key, item: Readonly<Record<string, unknown>>): readonly Subject[] {
  const linked = sk.startsWith(linkPrefix) ? sk.slice(linkPrefix.length) : undefined;
  const ids = {
    user: [
      textAt(item, "event", "userId"),
      textAt(item, "state", "userId"),
      textAt(item, "document", "userId"),
    ],
    account: [textAt(item, "event", "accountId"), linked],
    "company-account": [textAt(item, "event", "companyAccountId")],
  };
  return (["user", "account", "company-account"] as const).flatMap((kind) =>
    ids[kind].filter((id) => id !== undefined).map((id) => ({ kind, id })),
  );
}

function keyOf({ pk, sk }: Readonly<Record<string, unknown>>): Key {
  return { pk: String(pk), sk: String(sk) };
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const [name, ...rest] = path;
  if (name === undefined || !isFields(value)) return undefined;
  return rest.length === 0 ? optionalText(value, name) : textAt(value[name], ...rest);
}
