import { gunzipSync } from "node:zlib";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { Access } from "@income-events/local-stack/system.ts";

/** Everywhere that something of a person may lie, each by the name that a finding gives it. */
export type Places = {
  /** Reports of erasures lie in it, too. */
  readonly table: string;
  readonly buckets: Readonly<Record<string, string>>;
  /** What lies in queues. A subscriber's own is none of them: what it was sent is its own. */
  readonly messages: Readonly<Record<string, readonly string[]>>;
  /** Lines of functions' logs. */
  readonly logs: Readonly<Record<string, readonly string[]>>;
};

/** What names the erased, and texts that only their documents have. */
export type Sought = { readonly ids: readonly string[]; readonly marks: readonly string[] };

type Text = { readonly place: string; readonly text: string };

/**
 * What is left of who was erased, in words, in all places of the law of erasure. It is for the end, when every dead letter was
 * tried once more: what arrived after an erasure's last look was then stored late, and erased by the task that follows it, so
 * that nothing that names them may be left. Logs may have ids, which are pseudonyms, and nothing of their documents.
 */
export async function findRemains(
  access: Access,
  places: Places,
  { ids, marks }: Sought,
): Promise<readonly string[]> {
  const stored = [
    ...(await textsInTable(access, places.table)),
    ...(await textsInBuckets(access, places.buckets)),
    ...textsOf("the queue", places.messages),
  ];
  const logged = textsOf("the log of", places.logs);
  return [...remainsIn(stored, ids), ...remainsIn(logged, marks)];
}

function textsOf(what: string, texts: Readonly<Record<string, readonly string[]>>): readonly Text[] {
  return Object.entries(texts).flatMap(([name, each]) =>
    each.map((text) => ({ place: `${what} ${name}`, text })),
  );
}

function remainsIn(texts: readonly Text[], sought: readonly string[]): readonly string[] {
  const lowerCase = sought.map((each) => each.toLowerCase());
  return texts.flatMap(({ place, text }) => {
    const whole = text.toLowerCase();
    const found = lowerCase.find((each) => whole.includes(each));
    return found === undefined ? [] : [`the erased ${found} is still in ${place}`];
  });
}

async function textsInTable(access: Access, TableName: string): Promise<readonly Text[]> {
  const client = new DynamoDBClient(access);
  const texts: Text[] = [];
  try {
    for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
      for (const item of Items.map((each) => unmarshall(each)))
        texts.push({ place: `the table: ${item.pk} ${item.sk}`, text: textOf(item) });
  } finally {
    client.destroy();
  }
  return texts;
}

/** Bytes in an item are content, compressed or not. */
function textOf(item: unknown): string {
  return JSON.stringify(item, (_, value: unknown) => (value instanceof Uint8Array ? expanded(value) : value));
}

async function textsInBuckets(access: Access, buckets: Places["buckets"]): Promise<readonly Text[]> {
  const client = new S3Client({ ...access, forcePathStyle: true });
  const texts: Text[] = [];
  try {
    for (const [name, Bucket] of Object.entries(buckets))
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
        for (const { Key = "" } of Contents) {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
          const bytes = (await Body?.transformToByteArray()) ?? Buffer.of();
          texts.push({ place: `the bucket ${name}: ${Key}`, text: `${Key}\n${decoded(expanded(bytes))}` });
        }
  } finally {
    client.destroy();
  }
  return texts;
}

/** A body that is no text lies as base64: what it says is looked at, too. */
function decoded(text: string): string {
  const isBase64 = text !== "" && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  return isBase64 ? `${text}\n${Buffer.from(text, "base64").toString("utf8")}` : text;
}

function expanded(bytes: Uint8Array): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return Buffer.from(isGzip ? gunzipSync(bytes) : bytes).toString("utf8");
}

/** Names, addresses: words that nothing else says. Single words and times may be anybody's. */
const isOfPerson = /@|\p{L} \p{L}/u;

/**
 * Texts that only documents of the erased have.
 * @param data the provider's documents, by `<account>/<endpoint>`
 */
export function marksOf(data: ReadonlyMap<string, unknown>, erased: ReadonlySet<string>): readonly string[] {
  const texts = (isOfErased: boolean) =>
    new Set(
      [...data].flatMap(([name, document]) =>
        erased.has(name.slice(0, name.lastIndexOf("/"))) === isOfErased ? textsIn(document) : [],
      ),
    );
  return [...texts(true).difference(texts(false))];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return isOfPerson.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
