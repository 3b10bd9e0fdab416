/**
 * A subscriber and a reader of the table's stream in a process of their own: they record what arrives, and what was
 * ever written as an event's record.
 */
import { appendFileSync } from "node:fs";
import { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import { SQSClient } from "@aws-sdk/client-sqs";
import { serve } from "../remote.ts";
import { followEvents } from "./follow-events.ts";
import type { ObserverMethods, ObserverOptions } from "./protocol.ts";
import { readQueue } from "./read-queue.ts";

const [, , json = "{}"] = process.argv;
const { access, queues, streamArn, messagesFile, recordsFile }: ObserverOptions = JSON.parse(json);
const sqs = new SQSClient(access);
const streams = new DynamoDBStreamsClient(access);
const append = (file: string) => (line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`);

const readers = queues.map(({ name, queueUrl }) =>
  readQueue(sqs, queueUrl, (body) => append(messagesFile)({ subscriber: name, body })),
);
const follower = followEvents(streams, streamArn, append(recordsFile));

const methods: ObserverMethods = {
  finish: async () => {
    await Promise.all([...readers, follower].map((each) => each.caughtUp()));
  },
};
serve(methods, async () => undefined);
