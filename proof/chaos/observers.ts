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
export function startObservers({ stack, access, subscribers }: System, { messages, records }: Records) {
  const sqs = new SQSClient(access);
  const streams = new DynamoDBStreamsClient(access);
  const streamArn = stack.tables.find((table) => table.streamArn !== undefined)?.streamArn ?? "";
  const readers = subscribers.map(({ name, queueUrl }) => async () => {
    const received = await takeBatch(sqs, queueUrl);
    messages.push(...received.map(({ Body = "" }) => ({ subscriber: name, at: Date.now(), body: Body })));
    return received.length;
  });
  const readEvents = streamReader(streams, streamArn, (changes) => records.push(...changes.flatMap(lineOf)));
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
  // Later receipts increase the counter.
  const { receipts: _, ...content } = unmarshall(Object(NewImage ?? OldImage));
  return [{ change: String(eventName), key: `${pk} ${sk}`, id: String(content.event?.id), content }];
}
