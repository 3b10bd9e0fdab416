import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { Gateway } from "@income-events/local-stack/gateway/gateway.ts";
import { asObject, asString, parseJsonObject } from "@income-events/local-stack/gateway/operation.ts";
import { queueRecord } from "@income-events/local-stack/sources/queue-source.ts";
import { z } from "zod";

/** Requests as SQS bills them; `fifo`, which costs more, is part of `all`. */
export type QueueRequests = { readonly all: number; readonly fifo: number };

/** SQS bills each 64 KB of a request's messages as one request. Source: the pricing page of SQS. */
const chunkBytes = 65_536;

/** Number of requests that SQS bills for sending or receiving these bodies together. */
export function billedRequests(bodies: readonly string[]): number {
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  return Math.max(1, Math.ceil(bytes / chunkBytes));
}

export function addRequests(sum: QueueRequests, queueUrl: string, requests: number): QueueRequests {
  return { all: sum.all + requests, fifo: sum.fifo + (queueUrl.endsWith(".fifo") ? requests : 0) };
}

/** Counts the functions' billed requests to SQS from now on. */
export function countRequests(gateway: Gateway): () => QueueRequests {
  let count: QueueRequests = { all: 0, fifo: 0 };
  gateway.intercept(async ({ service, isFromFunction, body }, phase) => {
    if (service === "sqs" && isFromFunction && phase === "before") {
      const request = parseJsonObject(body.toString());
      count = addRequests(count, asString(request.QueueUrl), billedRequests(bodiesOf(request)));
    }
    return undefined;
  });
  return () => count;
}

function bodiesOf({ MessageBody, Entries }: ReturnType<typeof parseJsonObject>): readonly string[] {
  const entries: readonly unknown[] = Array.isArray(Entries) ? Entries : [{ MessageBody }];
  return entries.map((entry) => asString(asObject(entry).MessageBody));
}

const answerSchema = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

/**
 * Ids of the messages or changes that a function reports as failed.
 * @throws if its answer has another form
 */
export function failedIn(answer: unknown): readonly string[] {
  return answerSchema.parse(answer ?? {}).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** Batch size of the stack's event sources. */
const batchSize = 10;

/**
 * Delivers one batch of a queue to a function as an event source does; failed messages are delivered again.
 * @param hiddenSeconds visibility timeout of a failed message; undefined if the function sets it itself
 * @returns number of requests that SQS bills for it; 0 if there was no message
 */
export async function drainBatch(
  sqs: SQSClient,
  QueueUrl: string,
  work: (event: object) => Promise<unknown>,
  hiddenSeconds: number | undefined,
): Promise<number> {
  const receive = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: batchSize,
    MessageSystemAttributeNames: ["All"],
    MessageAttributeNames: ["All"],
  });
  const { Messages: messages = [] } = await sqs.send(receive);
  if (messages.length === 0) return 0;
  const arn = `arn:aws:sqs:eu-central-1:000000000000:${QueueUrl.split("/").at(-1)}`;
  const Records = messages.map((message) => queueRecord(message, { queue: { arn } }, "eu-central-1"));
  const failed = failedIn(await work({ Records }));
  const isFailed = ({ MessageId = "" }: Message) => failed.includes(MessageId);
  const again = messages.filter(isFailed).map(entryOf);
  const done = messages.filter((message) => !isFailed(message)).map(entryOf);
  if (done.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: done }));
  if (again.length > 0 && hiddenSeconds !== undefined) {
    const Entries = again.map((entry) => ({ ...entry, VisibilityTimeout: hiddenSeconds }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  }
  return billedRequests(messages.map(({ Body = "" }) => Body)) + Number(done.length > 0);
}

function entryOf({ ReceiptHandle }: Message, index: number) {
  return { Id: String(index), ReceiptHandle };
}
