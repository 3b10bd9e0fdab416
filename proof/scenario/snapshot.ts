import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { paginateScan } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, paginateListObjectsV2, type S3Client } from "@aws-sdk/client-s3";
import type { Message } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { deadLetterQueuesOf } from "@income-events/local-stack/outputs.ts";
import { queueDepth } from "@income-events/local-stack/sources/drained.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { Access } from "@income-events/local-stack/system.ts";
import { z } from "zod";
import { compressionFormatOf } from "../../domain/event/payload.ts";
import { clientsOf, takeBatch } from "./clients.ts";

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

export type KnownConnection = z.output<typeof knownConnection>;

type StoredEvent = {
  readonly type: string;
  readonly receipts: number;
  /** Found by reconciliation, without a webhook. */
  readonly reconciled: boolean;
};

/** Content of the table, read with the SDK. Ids are the provider's. */
export type TableSnapshot = Awaited<ReturnType<typeof readTable>>;

export async function readItems(access: Access, TableName: string): Promise<readonly NativeItem[]> {
  using clients = clientsOf(access);
  const items: NativeItem[] = [];
  const scan = { TableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: clients.dynamodb }, scan))
    items.push(...Items.map((item) => unmarshall(item)));
  return items;
}

type NativeItem = ReturnType<typeof unmarshall>;

/** All objects of a bucket, by key. */
export async function readObjects(access: Access, Bucket: string): Promise<ReadonlyMap<string, Uint8Array>> {
  using clients = clientsOf(access);
  const objects = new Map<string, Uint8Array>();
  for await (const { Contents = [] } of paginateListObjectsV2({ client: clients.s3 }, { Bucket }))
    for (const { Key = "" } of Contents) objects.set(Key, await readObject(clients.s3, Bucket, Key));
  return objects;
}

async function readObject(client: S3Client, Bucket: string, Key: string): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return (await Body?.transformToByteArray()) ?? new Uint8Array();
}

/** An item as JSON, with its content as text. */
export function textOfItem(item: unknown): string {
  return JSON.stringify(item, (_, value: unknown) =>
    value instanceof Uint8Array ? textOfBytes(value) : value,
  );
}

/** The text of content, compressed or not. */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(compressionFormatOf(bytes) === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
}

/** @param bucket of large contents; absent: only those in the table are read */
export async function readTable(access: Access, tableName: string, bucket?: string) {
  using clients = clientsOf(access);
  const events = new Map<string, StoredEvent>();
  const users = new Set<string>();
  const accounts = new Map<string, KnownConnection>();
  const companyAccounts = new Map<string, KnownConnection>();
  /** Texts of documents, by `<id>/<endpoint>`. */
  const contents = new Map<string, string>();
  const announced: Announced[] = [];
  const readAt = new Map<string, number>();
  for (const item of await readItems(access, tableName)) {
    const { pk, sk } = keyed.parse(item);
    const [partition = ""] = pk.split("#", 1);
    const id = pk.slice(partition.length + 1);
    const [sort, ...name] = sk.split("#");
    if (sort === "EVENT") {
      const { event, receipts } = eventItem.parse(item);
      announced.push(...announcedBy(event, receipts.since));
      events.set(event.id, { type: event.type, reconciled: event.reconciled, receipts: receipts.count });
    } else if (sort === "STATE") {
      const { state } = stateItem.parse(item);
      if (partition === "USER") users.add(id);
      if (partition === "ACCOUNT") accounts.set(id, state);
      if (partition === "COMPANY") companyAccounts.set(id, state);
    } else if (sort === "DOCUMENT") {
      const { asOf, codec, content, object } = documentItem.parse(item).document;
      readAt.set(`${id}/${name.join("#")}`, asOf);
      const bytes = object && bucket ? await readObject(clients.s3, bucket, object) : content;
      if (bytes)
        contents.set(
          `${id}/${name[0]}`,
          Buffer.from(codec === "gzip" ? gunzipSync(bytes) : bytes).toString(),
        );
    }
  }
  /** Names of documents that were read since their last announcement. */
  const data = upToDate(announced, readAt);
  return { events, users, accounts, companyAccounts, contents, data };
}

/** An announcement of a document: its names with and without the range, and when the event was received. */
type Announced = { readonly names: readonly string[]; readonly since: number };

function announcedBy(event: z.output<typeof eventItem>["event"], since: number): readonly Announced[] {
  const { accountId, companyAccountId, endpoint, dataAvailable, dateStart, dateEnd } = event;
  const id = accountId ?? companyAccountId;
  if (endpoint === undefined || id === undefined || !dataAvailable) return [];
  const whole = `${id}/${endpoint}`;
  return [{ names: dateStart === undefined ? [whole] : [`${whole}#${dateStart}..${dateEnd}`, whole], since }];
}

/** Documents that are read since all of their announcements, named without ranges: all ranges must be. */
function upToDate(announced: readonly Announced[], readAt: ReadonlyMap<string, number>): ReadonlySet<string> {
  const withoutRange = (name: string) => name.replace(/#.*$/, "");
  const behind = announced
    .filter(({ names, since }) => !names.some((name) => (readAt.get(name) ?? 0) >= since))
    .flatMap(({ names }) => names.map(withoutRange));
  return new Set([...readAt.keys()].map(withoutRange)).difference(new Set(behind));
}

/** Distinct messages of a subscriber's queue by id, taken out of the queue. */
export async function readSubscriber(access: Access, queueUrl: string): Promise<ReadonlyMap<string, string>> {
  return typesById(await readBodies(access, queueUrl));
}

/** Texts of all messages of a queue, taken out of it. */
export async function readBodies(access: Access, queueUrl: string): Promise<readonly string[]> {
  return (await Array.fromAsync(drain(access, queueUrl))).map(({ Body = "" }) => Body);
}

const message = z.object({ id: z.string(), type: z.string() });

/** @param bodies of messages to subscribers */
export function typesById(bodies: readonly string[]): ReadonlyMap<string, string> {
  const messages = bodies.map((body) => message.parse(JSON.parse(body)));
  return new Map(messages.map(({ id, type }) => [id, type]));
}

export type DeadLetter = { readonly id: string; readonly reason: string };

const identified = z.object({ id: z.string() });

/** The id of the event in a dead letter, or the whole text if it has none. */
export function idOfLetter(body: string): string {
  const { success, data } = identified.safeParse(JSON.parse(body));
  return success ? data.id : body;
}

/** SQS moves a message without a reason. */
const moved = "received as often as its queue allows";

/** Messages of all dead-letter queues, taken out of them. Functions add a reason to those that they send. */
export async function readAllDeadLetters(
  access: Access,
  stack: Pick<LocalStack, "outputs">,
): Promise<readonly DeadLetter[]> {
  const queues = deadLetterQueuesOf(stack).map(({ url }) => Array.fromAsync(drain(access, url)));
  return (await Promise.all(queues)).flat().map(({ Body = "", MessageAttributes = {} }) => ({
    id: idOfLetter(Body),
    reason: MessageAttributes.reason?.StringValue ?? moved,
  }));
}

const archived = z.object({
  queue: z.string(),
  body: z.string(),
  reason: z.string().default(moved),
});

/** Content of the archive: failed messages, and texts of those that a subscriber's queue refused, by subscriber. */
export async function readArchive(access: Access, Bucket: string) {
  const deadLetters: DeadLetter[] = [];
  const parked = new Map<string, string[]>();
  for (const bytes of (await readObjects(access, Bucket)).values()) {
    const { queue, body, reason } = archived.parse(JSON.parse(textOfBytes(bytes)));
    const subscriber = /^subscriber\/(.+)$/.exec(queue)?.[1];
    if (subscriber === undefined) deadLetters.push({ id: idOfLetter(body), reason });
    else parked.set(subscriber, [...(parked.get(subscriber) ?? []), body]);
  }
  return { deadLetters, parked };
}

/**
 * All messages of a queue with their attributes, taken out of it. Waits for those that another reader holds
 * until it deletes or returns them: the archive's runs hide all dead letters for a while.
 */
export async function* drain(access: Access, QueueUrl: string): AsyncGenerator<Message> {
  using clients = clientsOf(access);
  for (;;) {
    const messages = await takeBatch(clients.sqs, QueueUrl, { MessageAttributeNames: ["All"] });
    yield* messages;
    if (messages.length > 0) continue;
    if ((await queueDepth(clients.sqs, QueueUrl)) === 0) return;
    await wait(100);
  }
}
