import { gunzipSync } from "node:zlib";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { z } from "zod";
import { queueDepth } from "../../../adapters/sqs/queue-depth.ts";
import { type Piece, placeOfItem, placeOfObject } from "../../../proof/model/erasure/world.ts";
import type { TestBucket, TestSystem } from "../../support/engines.ts";
import type { ErasureFixture } from "./erasing.ts";

const keyed = z.looseObject({ pk: z.string(), sk: z.string() });
const givenUp = z.object({ payload: z.string() });
const records = z.object({ Records: z.array(z.unknown()) });
const archived = z.object({ body: z.string() });

/** All that the engines hold of what a fixture made, as text: what is compressed is expanded. Empties the queues. */
export async function readPieces(system: TestSystem, fixture: ErasureFixture): Promise<readonly Piece[]> {
  const { table, overflow, failures, archive, log, deadLetters } = fixture;
  const items = (await table.all()).map((item) => ({
    place: placeOfItem(keyed.parse(item)),
    text: textOf(item),
  }));
  const changes = await textsIn(failures);
  const lying = await textsIn(archive);
  const named = (place: string, texts: readonly string[]) => texts.map((text) => ({ place, text }));
  return [
    ...items,
    ...(await textsIn(overflow)).map(([key, text]) => ({ place: placeOfObject(key), text })),
    ...named("dead letter", await drain(system, deadLetters.users)),
    ...lying.map(([, text]) => ({
      place: "archived dead letter",
      text: archived.parse(JSON.parse(text)).body,
    })),
    ...changes.flatMap(([, text]) => named("given-up change", recordsIn(text))),
    ...named("erasure log", (await textsIn(log)).flat()),
    ...named(
      "log",
      fixture.entries.map((entry) => JSON.stringify(entry)),
    ),
  ];
}

function recordsIn(text: string): readonly string[] {
  return records
    .parse(JSON.parse(givenUp.parse(JSON.parse(text)).payload))
    .Records.map((each) => JSON.stringify(each));
}

async function textsIn(bucket: TestBucket): Promise<readonly (readonly [string, string])[]> {
  const keys = await bucket.keys();
  return Promise.all(keys.map(async (key) => [key, expanded(await bucket.bytes(key))] as const));
}

/** Takes all out of a queue, also what a reader who ended by force still hides. */
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

/** Bytes in an item are content, compressed or not. */
function textOf(item: unknown): string {
  return JSON.stringify(item, (_, value: unknown) => (value instanceof Uint8Array ? expanded(value) : value));
}

function expanded(bytes: Uint8Array): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return Buffer.from(isGzip ? gunzipSync(bytes) : bytes).toString("utf8");
}
