import { SendMessageBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type Failure, failureOf } from "../domain/failures.ts";

/**
 * A message to be sent. `reason`, which dead-letter queues show, and `returns` (see `domain/returns.ts`) become message
 * attributes; one that has no room beside a very large body is left out, for without the body it would say nothing.
 */
export type Outgoing = {
  readonly body: string;
  readonly delayInSeconds?: number;
  readonly reason?: string;
  readonly returns?: string;
};

/**
 * Sends messages to a queue in as few requests as the limits allow.
 * @returns one entry per message, in order: undefined where it is durable in SQS, else what went wrong
 */
export type Send = (
  queueUrl: string,
  messages: readonly Outgoing[],
) => Promise<readonly (Failure | undefined)[]>;

/** SQS: ten messages and 1 MiB a request, attributes included. */
const mostMessages = 10;
const mostBytes = 1_048_576;
const attributeAllowance = 1_024;

/** Whether a message's attributes have room beside its body. */
export function hasRoomForAttributes(body: string): boolean {
  return Buffer.byteLength(body) <= mostBytes - attributeAllowance;
}

export function sqsSender(client: SQSClient): Send {
  return async (queueUrl, messages) => {
    const results = await Promise.all(batchesOf(messages).map((batch) => sendBatch(client, queueUrl, batch)));
    return results.flat();
  };
}

async function sendBatch(
  client: SQSClient,
  queueUrl: string,
  batch: readonly Outgoing[],
): Promise<readonly (Failure | undefined)[]> {
  try {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: batch.map(entryOf) }),
    );
    const failed = new Map(Failed.map(({ Id, Code }) => [Id, Code ?? "unknown"]));
    return batch.map((_, index) => {
      const code = failed.get(String(index));
      return code === undefined
        ? undefined
        : { kind: "retryable", reason: `SQS: ${code}`, delayInSeconds: 0 };
    });
  } catch (error) {
    return batch.map(() => failureOf(error));
  }
}

function entryOf(message: Outgoing, index: number) {
  const { body, delayInSeconds } = message;
  return {
    Id: String(index),
    MessageBody: body,
    ...(delayInSeconds === undefined ? {} : { DelaySeconds: delayInSeconds }),
    ...attributesOf(message),
  };
}

const dataType = "String";
const longestReason = 256;

function attributesOf({ body, reason, returns }: Outgoing) {
  let room = mostBytes - Buffer.byteLength(body);
  const fitting = Object.entries({ returns, reason: reason?.slice(0, longestReason) }).flatMap(
    ([name, value]) => {
      const bytes = Buffer.byteLength(name + dataType + (value ?? ""));
      if (value === undefined || bytes > room) return [];
      room -= bytes;
      return [[name, { DataType: dataType, StringValue: value }] as const];
    },
  );
  return fitting.length === 0 ? {} : { MessageAttributes: Object.fromEntries(fitting) };
}

function batchesOf(messages: readonly Outgoing[]): readonly (readonly Outgoing[])[] {
  const batches: Outgoing[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = Buffer.byteLength(message.body) + attributeAllowance;
    const last = batches.at(-1);
    if (last === undefined || last.length === mostMessages || bytes + size > mostBytes) {
      batches.push([message]);
      bytes = size;
    } else {
      last.push(message);
      bytes += size;
    }
  }
  return batches;
}
