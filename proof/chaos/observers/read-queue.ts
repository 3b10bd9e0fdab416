import { DeleteMessageBatchCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { Reading } from "./protocol.ts";
import { readOn } from "./read-on.ts";

/** Reads a subscriber's queue: each message is recorded before it is deleted. */
export function readQueue(sqs: SQSClient, QueueUrl: string, record: (body: string) => void): Reading {
  return readOn(async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    for (const { Body = "" } of Messages) record(Body);
    if (Messages.length > 0) {
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
    return Messages.length;
  });
}
