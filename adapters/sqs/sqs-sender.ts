import {
  ChangeMessageVisibilityBatchCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";
import { type Failure, failureOf, retryable } from "../../domain/core/failures.ts";

/**
 * A message to send. `reason`, which dead-letter queues show, and `returns` (see `domain/recovery/dead-letter.ts`)
 * become message attributes. An attribute that does not fit beside a very large body is left out.
 */
export type Outgoing = {
  readonly body: string;
  readonly delayInSeconds?: number;
  readonly reason?: string;
  readonly returns?: string;
  /** Required by FIFO queues: the message group id and the deduplication id. */
  readonly group?: string;
  readonly deduplication?: string;
};

/**
 * Sends messages to a queue in as few requests as the limits allow.
 * @returns one entry per message, in order: undefined if SQS has stored it, else the failure
 */
export type Send = (
  queueUrl: string,
  messages: readonly Outgoing[],
) => Promise<readonly (Failure | undefined)[]>;

const maxBytes = 1_048_576;
const attributeAllowance = 1_024;
/** SQS's limits for a request: ten messages and 1 MiB, attributes included. */
const batchLimits = {
  maxItems: 10,
  maxBytes: maxBytes,
  bytesOf: ({ body }: Outgoing) => Buffer.byteLength(body) + attributeAllowance,
};

/** Whether a message's attributes fit beside its body. */
export function hasRoomForAttributes(body: string): boolean {
  return Buffer.byteLength(body) <= maxBytes - attributeAllowance;
}

export function sqsSender(client: SQSClient): Send {
  return async (queueUrl, messages) => {
    const batches = batchesOf(messages, batchLimits);
    return (await Promise.all(batches.map((batch) => sendBatch(client, queueUrl, batch)))).flat();
  };
}

/** Sends each message in its own request, which is cheaper than a batch of one. */
export function singleSender(client: SQSClient): Send {
  const sendOne = async (QueueUrl: string, message: Outgoing): Promise<Failure | undefined> => {
    try {
      await client.send(new SendMessageCommand({ QueueUrl, ...contentOf(message) }));
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  };
  return (queueUrl, messages) => Promise.all(messages.map((message) => sendOne(queueUrl, message)));
}

/** The SDK retries failed requests. This retries, once, the messages that SQS did not accept by its own fault. */
async function sendBatch(
  client: SQSClient,
  queueUrl: string,
  messages: readonly Outgoing[],
): Promise<readonly (Failure | undefined)[]> {
  const batch = new Map(messages.map((message, index) => [String(index), message]));
  const refused = await requestBatch(client, queueUrl, batch);
  const transient = new Map([...batch].filter(([id]) => refused.get(id)?.isTransient));
  const retried = transient.size === 0 ? undefined : await requestBatch(client, queueUrl, transient);
  const refusalOf = (id: string) => (retried !== undefined && transient.has(id) ? retried : refused).get(id);
  return [...batch.keys()].map((id) => refusalOf(id)?.failure);
}

/** @returns why SQS did not accept a message, by id. `isTransient`: by SQS's own fault, for this message alone */
async function requestBatch(
  client: SQSClient,
  queueUrl: string,
  batch: ReadonlyMap<string, Outgoing>,
): Promise<ReadonlyMap<string, { readonly failure: Failure; readonly isTransient: boolean }>> {
  const Entries = [...batch].map(([Id, message]) => ({ Id, ...contentOf(message) }));
  try {
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    return new Map(
      Failed.map(({ Id = "", Code = "unknown", SenderFault }) => {
        const { failure } = retryable(`SQS: ${Code}`);
        return [Id, { failure, isTransient: SenderFault === false }];
      }),
    );
  } catch (error) {
    const refusal = { failure: failureOf(error), isTransient: false };
    return new Map([...batch.keys()].map((id) => [id, refusal]));
  }
}

function contentOf(message: Outgoing) {
  const { body, delayInSeconds, group, deduplication } = message;
  return {
    MessageBody: body,
    ...(delayInSeconds === undefined ? {} : { DelaySeconds: delayInSeconds }),
    ...(group === undefined ? {} : { MessageGroupId: group }),
    ...(deduplication === undefined ? {} : { MessageDeduplicationId: deduplication }),
    ...attributesOf(message),
  };
}

const dataType = "String";
const maxReasonLength = 256;

function attributesOf({ body, reason, returns }: Outgoing) {
  // Most messages have no attributes, so skip counting the bytes of the body.
  if (reason === undefined && returns === undefined) return {};
  let room = maxBytes - Buffer.byteLength(body);
  const fitting = Object.entries({ returns, reason: reason?.slice(0, maxReasonLength) }).flatMap(
    ([name, value]) => {
      const bytes = Buffer.byteLength(name + dataType + (value ?? ""));
      if (value === undefined || bytes > room) return [];
      room -= bytes;
      return [[name, { DataType: dataType, StringValue: value }] as const];
    },
  );
  return fitting.length === 0 ? {} : { MessageAttributes: Object.fromEntries(fitting) };
}

/**
 * Concurrent sends to one queue share requests; each message has its own result.
 * @returns sends as `Send` does; `untilReady` resolves when concurrent senders are ready too
 */
export function batchingSender(send: Send) {
  const open = new Map<string, { readonly messages: Outgoing[]; readonly outcomes: ReturnType<Send> }>();
  const openBatch = (queueUrl: string) => {
    const messages: Outgoing[] = [];
    const outcomes = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      open.delete(queueUrl);
      return send(queueUrl, messages);
    });
    const batch = { messages, outcomes };
    open.set(queueUrl, batch);
    return batch;
  };
  return async (
    queueUrl: string,
    messages: readonly Outgoing[],
    untilReady?: () => Promise<unknown>,
  ): ReturnType<Send> => {
    await untilReady?.();
    if (messages.length === 0) return [];
    const { messages: shared, outcomes } = open.get(queueUrl) ?? openBatch(queueUrl);
    const first = shared.length;
    shared.push(...messages);
    return (await outcomes).slice(first, first + messages.length);
  };
}

/**
 * Changes the visibility of received messages. SQS delivers each again after its time, counted from now.
 * @returns a function for at most ten messages, the size of a batch. It returns one entry for each message, in order:
 * undefined if it succeeded, else the failure.
 */
export function messageVisibility(client: SQSClient) {
  return async (
    queueUrl: string,
    messages: readonly { readonly receiptHandle: string; readonly seconds: number }[],
  ): Promise<readonly (Failure | undefined)[]> => {
    if (messages.length === 0) return [];
    const Entries = messages.map(({ receiptHandle, seconds }, index) => ({
      Id: String(index),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }));
    try {
      const { Failed = [] } = await client.send(
        new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }),
      );
      const codes = new Map(Failed.map(({ Id, Code }) => [Id, Code ?? "unknown"]));
      return messages.map((_, index) => failureOfEntry(codes.get(String(index))));
    } catch (error) {
      return messages.map(() => failureOf(error));
    }
  };
}

function failureOfEntry(code: string | undefined): Failure | undefined {
  return code === undefined ? undefined : { type: "retryable", reason: `SQS: ${code}`, delayInSeconds: 0 };
}
