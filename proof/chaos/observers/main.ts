/**
 * Subscribers and a reader of the table's stream in their own process, which record the messages and every
 * version of the events' records.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Access } from "@income-events/local-stack/system.ts";
import { streamReader } from "../../support/stream-reader.ts";
import { serve } from "../remote.ts";
import { lineOf } from "./record-line.ts";

export type ObserverOptions = {
  readonly access: Access;
  readonly queues: readonly { readonly name: string; readonly queueUrl: string }[];
  readonly streamArn: string;
  readonly files: { readonly messages: string; readonly records: string };
};

const [, , json = "{}"] = process.argv;
const { access, queues, streamArn, files }: ObserverOptions = JSON.parse(json);
const sqs = new SQSClient(access);
const streams = new DynamoDBStreamsClient(access);
const append = (file: string, line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`);
const betweenReadsMs = 250;

/** Reads a subscriber's queue, recording each message before deleting it. */
async function readQueue({ name, queueUrl: QueueUrl }: ObserverOptions["queues"][number]): Promise<number> {
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  for (const { Body = "" } of Messages)
    append(files.messages, { subscriber: name, at: Date.now(), body: Body });
  if (Messages.length > 0) {
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return Messages.length;
}

/**
 * Reads repeatedly, with a pause after an empty read.
 * @param read returns the number of records found
 * @returns a function that waits until nothing is left
 */
function readOn(read: () => Promise<number>): () => Promise<void> {
  let started = 0;
  let waiters: { readonly after: number; readonly resolve: () => void }[] = [];
  const run = async (): Promise<never> => {
    for (;;) {
      started += 1;
      const turn = started;
      // Retries later; a run that ends without the data fails for it.
      const found = await read().catch(() => 1);
      if (found > 0) continue;
      for (const { resolve } of waiters.filter(({ after }) => after < turn)) resolve();
      waiters = waiters.filter(({ after }) => after >= turn);
      await wait(betweenReadsMs);
    }
  };
  void run();
  return () => new Promise((resolve) => waiters.push({ after: started, resolve }));
}

const readEvents = streamReader(streams, streamArn, (records) => {
  for (const line of records.flatMap(lineOf)) append(files.records, line);
});
const readings = [...queues.map((queue) => readOn(() => readQueue(queue))), readOn(readEvents)];

const methods = {
  /** Resolves when everything written before the call is recorded. */
  finish: async () => {
    await Promise.all(readings.map((caughtUp) => caughtUp()));
  },
};
export type ObserverMethods = typeof methods;
serve(methods, async () => undefined);
