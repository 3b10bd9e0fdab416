import {
  DeleteItemCommand,
  type DynamoDBClient,
  paginateQuery,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { isFields, optionalText, present } from "../../domain/core/parse.ts";
import { isEventType, subjectKindOf } from "../../domain/event/events.ts";
import { nameOf, type Subject } from "../../domain/event/subjects.ts";
import { isWritten } from "../dynamodb/batching.ts";
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
  /** `events`, `states` and so on, as reports count them. */
  readonly kind: string;
  /** The subjects that it names: its user, or accounts. */
  readonly named: readonly Subject[];
  /** Whether it says who owns an account: a link to the user, or an event of the account itself. */
  readonly saysOwner: boolean;
  /** The owner of an account, from the account's state. */
  readonly ownerId?: string;
  /** The user named by a document, or by the last event of a state. */
  readonly lastUserId?: string;
  /** A user's readiness. */
  readonly announced?: Announced;
  /** The S3 object that holds the event's body. */
  readonly bodyObject?: string;
};

type Announced = {
  readonly version: number;
  readonly accounts: readonly Readonly<Record<string, unknown>>[];
};

export type ErasableRecords = ReturnType<typeof erasableRecords>;

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

/** An attribute in an expression. No name in it can then be a reserved word. */
const at = (...path: readonly string[]) => path.map((name) => `#${name}`).join(".");
const namesOf = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [`#${name}`, name]));

/** Documents contain their data; only their owner is read. */
const read = [
  ...[["event"], ["body", "key"], ["state", "userId"], ["state", "latest", "event"], ["document", "userId"]],
  ...[
    ["readiness", "accounts"],
    ["readiness", "version"],
  ],
];
const projection = {
  ProjectionExpression: ["pk", "sk", ...read.map((path) => at(...path))].join(", "),
  ExpressionAttributeNames: namesOf(...read.flat()),
};

export function erasableRecords(client: DynamoDBClient, tableName: string) {
  return {
    /** Interrupted replays, as text. They name their subject and the last item that they reached. */
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
    /** All items of a partition, a page at a time. */
    pagesOf: async function* (subject: Subject) {
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
    /**
     * Removes the last event from a state, the user's id from a document, or accounts from a user's readiness, if it
     * still names them.
     * @param erased names of subjects
     */
    forget: async (record: ErasableRecord, erased: ReadonlySet<string>) => {
      await isWritten(
        client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: marshall(record.key),
            ...forgetting(record, erased),
          }),
        ),
      );
    },
    /** @returns false if it was missing: another erasure may have deleted it */
    remove: async ({ key }: Pick<ErasableRecord, "key">) => {
      const item = { TableName: tableName, Key: marshall(key) };
      return isWritten(
        client.send(new DeleteItemCommand({ ...item, ConditionExpression: "attribute_exists(pk)" })),
      );
    },
  };
}

/** A user's readiness without erased accounts, as its next version, so that subscribers get it. */
export function withoutAccounts({ version, accounts }: Announced, erased: ReadonlySet<string>): Announced {
  const others = accounts.filter(
    (each) => !accountsIn([each]).some((account) => erased.has(nameOf(account))),
  );
  return { version: version + 1, accounts: others };
}

function forgetting(
  { key: { sk }, lastUserId: userId, announced }: ErasableRecord,
  erased: ReadonlySet<string>,
) {
  if (announced !== undefined) {
    const { version, accounts } = withoutAccounts(announced, erased);
    return {
      UpdateExpression: `SET ${at("readiness", "accounts")} = :accounts, ${at("readiness", "version")} = :version`,
      ConditionExpression: `${at("readiness", "version")} = :known`,
      ExpressionAttributeNames: namesOf("readiness", "accounts", "version"),
      ExpressionAttributeValues: marshall({
        ":accounts": accounts,
        ":version": version,
        ":known": announced.version,
      }),
    };
  }
  if (sk.startsWith(documentPrefix) || sk.startsWith(versionPrefix)) {
    return {
      UpdateExpression: `REMOVE ${at("document", "userId")}`,
      ConditionExpression: `${at("document", "userId")} = :user`,
      ExpressionAttributeNames: namesOf("document", "userId"),
      ExpressionAttributeValues: marshall({ ":user": userId }),
    };
  }
  return {
    // A cause without a message, so that nothing is announced again.
    UpdateExpression: `SET ${at("state", "latest")} = :again`,
    ConditionExpression: `${at("state", "latest", "event", "userId")} = :user`,
    ExpressionAttributeNames: namesOf("state", "latest", "event", "userId"),
    ExpressionAttributeValues: marshall({ ":again": { cause: "again" }, ":user": userId }),
  };
}

/** Accepts any item: unreadable ones must be erased too. */
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
      announced: announcedIn(item.readiness),
    }),
  };
}

/** Links do, and events of the account itself. */
function saysOwner(kind: string, item: Readonly<Record<string, unknown>>): boolean {
  const type = textAt(item, "event", "type");
  return kind === "links" || (isEventType(type) && subjectKindOf(type) !== "endpoint");
}

function announcedIn(readiness: unknown): Announced | undefined {
  if (!isFields(readiness) || !Array.isArray(readiness.accounts)) return undefined;
  return { version: Number(readiness.version), accounts: readiness.accounts.filter(isFields) };
}

function accountsIn(announced: readonly Readonly<Record<string, unknown>>[]): readonly Subject[] {
  return announced.flatMap(({ accountId: id }) => (typeof id === "string" ? [{ kind: "account", id }] : []));
}

/** The subjects that an item names: its user, or accounts. */
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
  const named = (["user", "account", "company-account"] as const).flatMap((kind) =>
    ids[kind].filter((id) => id !== undefined).map((id) => ({ kind, id })),
  );
  return [...named, ...accountsIn(announcedIn(item.readiness)?.accounts ?? [])];
}

function keyOf({ pk, sk }: Readonly<Record<string, unknown>>): Key {
  return { pk: String(pk), sk: String(sk) };
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const [name, ...rest] = path;
  if (name === undefined || !isFields(value)) return undefined;
  return rest.length === 0 ? optionalText(value, name) : textAt(value[name], ...rest);
}
