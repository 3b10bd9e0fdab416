import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { ListBucketsCommand } from "@aws-sdk/client-s3";
import { ListQueuesCommand } from "@aws-sdk/client-sqs";
import { subscribersOf } from "@income-events/local-stack/outputs.ts";
import type { LocalStack } from "@income-events/local-stack/stack.ts";
import type { Access } from "@income-events/local-stack/system.ts";
import { clientsOf } from "../../scenario/clients.ts";
import { readBodies, readItems, readObjects, textOfBytes, textOfItem } from "../../scenario/snapshot.ts";

/** All stores that may contain personal data, by the names in findings. */
export type Places = {
  /** Some tables contain reports of erasures. */
  readonly tables: readonly string[];
  readonly buckets: readonly string[];
  /** Messages of all queues but the subscribers'. */
  readonly messages: Readonly<Record<string, readonly string[]>>;
  /** Lines of functions' logs. */
  readonly logs: Readonly<Record<string, readonly string[]>>;
};

/** Ids of the erased, and texts that only their documents contain. */
export type Sought = { readonly ids: readonly string[]; readonly marks: readonly string[] };

type Text = { readonly place: string; readonly text: string };

/** Lists all tables, buckets and logs in the engines, including those no setting names any more. */
export async function storesIn(stack: LocalStack, access: Access): Promise<Omit<Places, "messages">> {
  using clients = clientsOf(access);
  const [{ TableNames = [] }, { Buckets = [] }] = await Promise.all([
    clients.dynamodb.send(new ListTablesCommand()),
    clients.s3.send(new ListBucketsCommand()),
  ]);
  return {
    tables: TableNames,
    buckets: Buckets.map(({ Name = "" }) => Name),
    logs: Object.fromEntries(stack.functions.map(({ logicalId, log }) => [logicalId, log()])),
  };
}

/** Adds the messages of all queues but subscribers', deleting them. */
export async function everywhereIn(stack: LocalStack, access: Access): Promise<Places> {
  using clients = clientsOf(access);
  const subscribers = new Set(subscribersOf(stack).map(({ queueUrl }) => nameOfQueue(queueUrl)));
  const { QueueUrls = [] } = await clients.sqs.send(new ListQueuesCommand());
  const messages = QueueUrls.filter((url) => !subscribers.has(nameOfQueue(url))).map(
    async (url) => [nameOfQueue(url), await readBodies(access, url)] as const,
  );
  return { ...(await storesIn(stack, access)), messages: Object.fromEntries(await Promise.all(messages)) };
}

export function nameOfQueue(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

/**
 * Finds ids of the erased in tables, buckets, queues and logs, and texts of their documents in logs. Run it
 * at the end, after every dead letter was redriven: whatever arrived after an erasure's last search was then
 * stored late, and erased by the task that follows.
 * @returns one sentence for each place that names somebody
 * @throws if an object cannot be read
 */
export async function findRemains(
  access: Access,
  places: Places,
  { ids, marks }: Sought,
): Promise<readonly string[]> {
  const stored = [
    ...(await Promise.all(places.tables.map((name) => textsInTable(access, name)))).flat(),
    ...(await textsInBuckets(access, places.buckets)),
    ...textsOf("the queue", places.messages),
  ];
  const logged = textsOf("the log of", places.logs);
  return [...remainsIn(stored, ids), ...remainsIn(logged, [...ids, ...marks])];
}

function textsOf(what: string, texts: Readonly<Record<string, readonly string[]>>): readonly Text[] {
  return Object.entries(texts).flatMap(([name, each]) =>
    each.map((text) => ({ place: `${what} ${name}`, text })),
  );
}

function remainsIn(texts: readonly Text[], sought: readonly string[]): readonly string[] {
  const lowerCase = sought.map((each) => each.toLowerCase());
  return texts.flatMap(({ place, text }) => {
    const whole = readable(text).toLowerCase();
    const found = lowerCase.find((each) => whole.includes(each));
    return found === undefined ? [] : [`the erased ${found} is still in ${place}`];
  });
}

async function textsInTable(access: Access, tableName: string): Promise<readonly Text[]> {
  const items = await readItems(access, tableName);
  return items.map((item) => ({ place: `the table: ${item.pk} ${item.sk}`, text: textOfItem(item) }));
}

async function textsInBuckets(access: Access, buckets: Places["buckets"]): Promise<readonly Text[]> {
  const texts: Text[] = [];
  for (const bucket of buckets)
    for (const [key, bytes] of await readObjects(access, bucket))
      texts.push({ place: `the bucket ${bucket}: ${key}`, text: `${key}\n${textOfBytes(bytes)}` });
  return texts;
}

/** Longer than any digest. */
const base64 = /[A-Za-z0-9+/]{48,}={0,2}/g;

/** Adds the decoded text of base64 parts, compressed or not: bodies that are not text are stored that way. */
function readable(text: string): string {
  const parts = Array.from(text.matchAll(base64), ([part]) => textOfBytes(Buffer.from(part, "base64")));
  return [text, ...parts].join("\n");
}

/** Names and addresses. Single words and times are not specific to a person. */
const isOfPerson = /@|\p{L} \p{L}/u;

/**
 * Texts that only documents of the erased contain.
 * @param documents the provider's documents, each with its account
 */
export function marksOf(
  documents: readonly (readonly [accountId: string, document: unknown])[],
  erased: ReadonlySet<string>,
): readonly string[] {
  const texts = (isOfErased: boolean) =>
    new Set(documents.flatMap(([id, document]) => (erased.has(id) === isOfErased ? textsIn(document) : [])));
  return [...texts(true).difference(texts(false))];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return isOfPerson.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
