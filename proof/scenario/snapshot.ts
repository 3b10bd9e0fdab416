import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { queueDepth } from "@income-events/local-stack/sources/queue-depth.ts";
import { z } from "zod";
import { Freshness } from "./freshness.ts";

/** How the engines are reached from outside of the pipeline. */
export type Access = {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
};

const knownConnection = z.object({
  connected: z.boolean().optional(),
  deleted: z.boolean(),
  unconfirmed: z.boolean(),
});
const eventItem = z.object({
  event: z.object({
    id: z.string(),
    type: z.string(),
    reconciled: z.boolean().default(false),
    accountId: z.string().optional(),
    companyAccountId: z.string().optional(),
    endpoint: z.string().optional(),
    dataAvailable: z.boolean().default(true),
    dateStart: z.string().optional(),
    dateEnd: z.string().optional(),
  }),
  receipts: z.object({ count: z.number(), since: z.number() }),
});
const stateItem = z.object({ state: knownConnection });
const documentItem = z.object({
  document: z.object({
    asOf: z.number(),
    codec: z.enum(["gzip", "identity"]).default("identity"),
    content: z.instanceof(Uint8Array).optional(),
    object: z.string().optional(),
  }),
});
const keyed = z.object({ pk: z.string(), sk: z.string() });
const message = z.object({ id: z.string(), type: z.string() });

export type KnownConnection = z.output<typeof knownConnection>;

type StoredEvent = {
  readonly type: string;
  readonly receipts: number;
  /** Found by reconciliation: no webhook announced it. */
  readonly reconciled: boolean;
};

/** What stands in the table, read with the SDK. Ids are the provider's. */
export type TableSnapshot = {
  readonly events: ReadonlyMap<string, StoredEvent>;
  readonly users: ReadonlySet<string>;
  readonly accounts: ReadonlyMap<string, KnownConnection>;
  readonly companyAccounts: ReadonlyMap<string, KnownConnection>;
  /** Documents whose content is stored and up to date, `<id>/<endpoint>`. */
  readonly data: ReadonlySet<string>;
  /** Texts of contents that lie in the table itself, by the same names. */
  readonly contents: ReadonlyMap<string, string>;
  /** Keys of contents that lie in the bucket, by the same names. */
  readonly objects: ReadonlyMap<string, string>;
  readonly fetches: number;
};

export async function readTable(access: Access, tableName: string): Promise<TableSnapshot> {
  const client = new DynamoDBClient(access);
  const events = new Map<string, StoredEvent>();
  const users = new Set<string>();
  const accounts = new Map<string, KnownConnection>();
  const companyAccounts = new Map<string, KnownConnection>();
  const contents = new Map<string, string>();
  const objects = new Map<string, string>();
  const freshness = new Freshness();
  try {
    for await (const { Items = [] } of paginateScan(
      { client },
      { TableName: tableName, ConsistentRead: true },
    )) {
      for (const raw of Items) {
        const item: unknown = unmarshall(raw);
        const { pk, sk } = keyed.parse(item);
        const [partition = "", ...rest] = pk.split("#");
        const id = rest.join("#");
        // The range is left out of a document's name: an endpoint is up to date when all of its ranges are.
        const [sort = "", endpoint = ""] = sk.split("#");
        const dataName = `${id}/${endpoint}`;
        if (sort === "EVENT") {
          const { event, receipts } = eventItem.parse(item);
          freshness.addEvent(event, receipts.since);
          events.set(event.id, { type: event.type, reconciled: event.reconciled, receipts: receipts.count });
        } else if (sort === "STATE") {
          const { state } = stateItem.parse(item);
          if (partition === "USER") users.add(id);
          if (partition === "ACCOUNT") accounts.set(id, state);
          if (partition === "COMPANY") companyAccounts.set(id, state);
        } else if (sort === "DOCUMENT") {
          const { asOf, codec, content, object } = documentItem.parse(item).document;
          freshness.addDocument(id, sk, asOf);
          if (content !== undefined) contents.set(dataName, textOf(content, codec));
          if (object !== undefined) objects.set(dataName, object);
        }
      }
    }
  } finally {
    client.destroy();
  }
  const data = freshness.upToDate();
  return { events, users, accounts, companyAccounts, data, contents, objects, fetches: data.size };
}

function textOf(content: Uint8Array, codec: "gzip" | "identity"): string {
  return Buffer.from(codec === "gzip" ? gunzipSync(content) : content).toString();
}

/** The texts of what lies in the bucket, compressed. */
export async function readObjects(
  access: Access,
  Bucket: string,
  objects: TableSnapshot["objects"],
): Promise<ReadonlyMap<string, string>> {
  const client = new S3Client({ ...access, forcePathStyle: true });
  const texts = new Map<string, string>();
  try {
    for (const [name, Key] of objects) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      texts.set(name, gunzipSync((await Body?.transformToByteArray()) ?? "").toString());
    }
  } finally {
    client.destroy();
  }
  return texts;
}

/** The distinct messages of a subscriber's queue, by id; reading takes them out of the queue. */
export async function readSubscriber(access: Access, queueUrl: string): Promise<ReadonlyMap<string, string>> {
  return typesById(await readBodies(access, queueUrl));
}

/** The texts of all messages of a queue; reading takes them out of it. */
export async function readBodies(access: Access, queueUrl: string): Promise<readonly string[]> {
  const bodies: string[] = [];
  for await (const { Body = "" } of drain(access, queueUrl)) bodies.push(Body);
  return bodies;
}

/** @param bodies of messages to subscribers */
export function typesById(bodies: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    bodies.map((body) => {
      const { id, type } = message.parse(JSON.parse(body));
      return [id, type] as const;
    }),
  );
}

const identified = z.object({ id: z.string() });

/** A dead letter: what it is (the event's id, or its text where it has none), and why it lies there. */
export type DeadLetter = { readonly id: string; readonly reason: string; readonly body: string };

/**
 * What lies in a dead-letter queue; reading takes the messages out of it. Our own functions say why they sent one
 * there. What SQS itself moved there was received as often as its source allows, and nobody knows more.
 */
export async function readDeadLetters(
  access: Access,
  queueUrl: string,
  sourceUrl: string,
): Promise<readonly DeadLetter[]> {
  const moved = `received ${await maxReceiveCountOf(access, sourceUrl)} times`;
  const found: DeadLetter[] = [];
  for await (const { Body = "", MessageAttributes = {} } of drain(access, queueUrl)) {
    const { success, data } = identified.safeParse(JSON.parse(Body));
    const reason = MessageAttributes.reason?.StringValue ?? moved;
    found.push({ id: success ? data.id : Body, reason, body: Body });
  }
  return found;
}

const redrivePolicy = z.object({ maxReceiveCount: z.coerce.number() });

async function maxReceiveCountOf(access: Access, QueueUrl: string): Promise<number> {
  const client = new SQSClient(access);
  try {
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["RedrivePolicy"] });
    const { Attributes = {} } = await client.send(command);
    return redrivePolicy.parse(JSON.parse(Attributes.RedrivePolicy ?? "{}")).maxReceiveCount;
  } finally {
    client.destroy();
  }
}

const pollMs = 100;

/**
 * All messages of a queue, with their attributes; each is taken out of it. What others have in their hands is waited
 * for: they take it away or give it back. The archive's runs, for one, hide all dead letters for a moment.
 */
export async function* drain(access: Access, queueUrl: string): AsyncGenerator<Message> {
  const client = new SQSClient(access);
  try {
    for (;;) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: 10,
          MessageAttributeNames: ["All"],
        }),
      );
      if (Messages.length === 0) {
        if ((await queueDepth(client, queueUrl)) === 0) return;
        await wait(pollMs);
        continue;
      }
      yield* Messages;
      const Entries = Messages.map(({ ReceiptHandle = "" }, index) => ({ Id: String(index), ReceiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    }
  } finally {
    client.destroy();
  }
}
