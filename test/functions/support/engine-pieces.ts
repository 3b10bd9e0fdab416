import { BatchWriteItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { DeleteObjectsCommand, GetObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { z } from "zod";
import { queueDepth } from "../../../adapters/sqs/queue-metrics.ts";
import { batchesOf } from "../../../domain/core/batches.ts";
import { type Piece, placeOfItem, placeOfObject } from "../../../proof/model/erasure/world.ts";
import { textOfBytes, textOfItem } from "../../../proof/scenario/snapshot.ts";
import type { TestSystem } from "../../support/engines.ts";
import type { ErasureFixture } from "./erasing.ts";

const keyed = z.looseObject({ pk: z.string(), sk: z.string() });
const givenUp = z.object({ payload: z.string() });
const records = z.object({ Records: z.array(z.unknown()) });
const archived = z.object({ body: z.string() });

/** Maximum deletions per request. */
const maxDeletes = 25;

/** Takes all data of a fixture out of the engines, as decompressed text. The fixture is then as new. */
export async function takePieces(system: TestSystem, fixture: ErasureFixture): Promise<readonly Piece[]> {
  const { table, overflow, failures, archive, log, deadLetters, entries } = fixture;
  const [items, bodies, changes, archivedLetters, erasures, lying] = await Promise.all([
    takeItems(system, table.name),
    takeObjects(system, overflow.name),
    takeObjects(system, failures.name),
    takeObjects(system, archive.name),
    takeObjects(system, log.name),
    drain(system, deadLetters.users),
  ]);
  const named = (place: string, texts: readonly string[]) => texts.map((text) => ({ place, text }));
  return [
    ...items.map((item) => ({ place: placeOfItem(keyed.parse(item)), text: textOfItem(item) })),
    ...bodies.map(([key, text]) => ({ place: placeOfObject(key), text })),
    ...named("dead letter", lying),
    ...named(
      "archived dead letter",
      archivedLetters.map(([, text]) => archived.parse(JSON.parse(text)).body),
    ),
    ...changes.flatMap(([, text]) => named("given-up change", recordsIn(text))),
    ...named("erasure log", erasures.flat()),
    ...named(
      "log",
      entries.splice(0).map((entry) => JSON.stringify(entry)),
    ),
  ];
}

async function takeItems({ dynamodb }: TestSystem, TableName: string): Promise<readonly unknown[]> {
  const items: Record<string, unknown>[] = [];
  const scan = { TableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: dynamodb }, scan))
    items.push(...Items.map((item) => unmarshall(item)));
  for (const batch of batchesOf(items, { maxItems: maxDeletes })) {
    const deletes = batch.map(({ pk, sk }) => ({ DeleteRequest: { Key: marshall({ pk, sk }) } }));
    const command = new BatchWriteItemCommand({ RequestItems: { [TableName]: deletes } });
    const { UnprocessedItems = {} } = await dynamodb.send(command);
    if (Object.keys(UnprocessedItems).length > 0) throw new Error("the engine deleted a part of a batch");
  }
  return items;
}

async function takeObjects(
  { s3 }: TestSystem,
  Bucket: string,
): Promise<readonly (readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
    const keys = Contents.flatMap(({ Key }) => Key ?? []);
    const texts = keys.map(async (Key) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return [Key, textOfBytes((await Body?.transformToByteArray()) ?? Buffer.of())] as const;
    });
    found.push(...(await Promise.all(texts)));
  }
  const Objects = found.map(([Key]) => ({ Key }));
  if (Objects.length > 0) await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  return found;
}

function recordsIn(text: string): readonly string[] {
  return records
    .parse(JSON.parse(givenUp.parse(JSON.parse(text)).payload))
    .Records.map((each) => JSON.stringify(each));
}

/** Empties a queue, including messages hidden by a killed reader. */
async function drain({ sqs }: TestSystem, QueueUrl: string): Promise<readonly string[]> {
  const all: string[] = [];
  while (!(await isEmpty(sqs, QueueUrl))) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    all.push(...Messages.map(({ Body = "" }) => Body));
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return all;
}

async function isEmpty(sqs: TestSystem["sqs"], queueUrl: string): Promise<boolean> {
  const { waiting, inFlight } = await queueDepth(sqs, queueUrl);
  return waiting + inFlight === 0;
}
