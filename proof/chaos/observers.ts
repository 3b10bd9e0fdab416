import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type _Record, DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { System } from "@income-events/local-stack/system.ts";
import { takeBatch } from "../scenario/clients.ts";
import { streamReader } from "../support/stream-reader.ts";
import type { RecordLine, Records } from "./records.ts";

const betweenReadsMs = 250;

/**
 * Subscribers and a reader of the table's stream, which record the messages and every version of the events'
 * records.
 */
export function startObservers({ stack, access, subscribers }: System, records: Records) {
  const sqs = new SQSClient(access);
  const streams = new DynamoDBStreamsClient(access);
  const streamArn = stack.tables.find((table) => table.streamArn !== undefined)?.streamArn ?? "";
  const readers = subscribers.map(({ name, queueUrl }) => async () => {
    const messages = await takeBatch(sqs, queueUrl);
    for (const { Body: body = "" } of messages)
      records.messages.add({ subscriber: name, at: Date.now(), body });
    return messages.length;
  });
  const readEvents = streamReader(streams, streamArn, (changes) => {
    for (const line of changes.flatMap(lineOf)) records.changes.add(line);
  });
  let isOver = false;
  const readOn = async (read: () => Promise<number>): Promise<void> => {
    for (;;) {
      const isLast = isOver;
      // Retries later; a run that ends without the data fails for it.
      const found = await read().catch(() => 1);
      if (found === 0 && isLast) return;
      if (found === 0) await wait(betweenReadsMs);
    }
  };
  const reading = Promise.all([...readers, readEvents].map(readOn));
  return {
    /** Ends the reading; resolves when everything written before is recorded. */
    finish: async (): Promise<void> => {
      isOver = true;
      await reading;
      sqs.destroy();
      streams.destroy();
    },
  };
}

/** Line of a table change, for changes of an event's record. */
function lineOf({ eventName, dynamodb: { Keys, NewImage, OldImage } = {} }: _Record): readonly RecordLine[] {
  const { pk, sk } = unmarshall(Object(Keys));
  if (typeof sk !== "string" || !sk.startsWith("EVENT#")) return [];
  const image = unmarshall(Object(NewImage ?? OldImage));
  return [
    { change: String(eventName), key: `${pk} ${sk}`, id: String(image.event?.id), digest: digestOf(image) },
  ];
}

/** Digest of the first receipt, without the counter that later ones increase. */
function digestOf({ receipts: _, ...said }: Record<string, unknown>): string {
  return createHash("sha256").update(JSON.stringify(said, inOrder)).digest("base64url");
}

/** Engines may return a map's fields in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
