import {
  type BatchResultErrorEntry,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { batchesOf } from "../../domain/core/batches.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";

/**
 * A message to be sent. `reason`, which dead-letter queues show, and `returns` (see `domain/recovery/redrive-count.ts`) become message
 * attributes; one that has no room beside a very large body is left out, for without the body it would say nothing.
 */
export type Outgoing = {
  readonly body: string;
  readonly delayInSeconds?: number;
  readonly reason?: string;
  readonly returns?: string;
  /** Of a FIFO queue, which asks for both: what is handed out one after the other, and what is taken once. */
  readonly group?: string;
  readonly deduplication?: string;
};

/**
 * Sends messages to a queue in as few requests as the limits allow.
 * @returns one entry per message, in order: undefined where it is durable in SQS, else what went wrong
 */
export type Send = (
  queueUrl: string,
  messages: readonly Outgoing[],
) => Promise<readonly (Failure | undefined)[]>;

const maxBytes = 1_048_576;
const attributeAllowance = 1_024;
/** SQS: ten messages and 1 MiB a request, attributes included. */
const batchLimits = {
  maxItems: 10,
  maxBytes: maxBytes,
  bytesOf: ({ body }: Outgoing) => Buffer.byteLength(body) + attributeAllowance,
};

/** Whether a message's attributes have room beside its body. */
export function hasRoomForAttributes(body: string): boolean {
  return Buffer.byteLength(body) <= maxBytes - attributeAllowance;
}

export function sqsSender(client: SQSClient): Send {
  return async (queueUrl, messages) => {
    const batches = batchesOf(messages, batchLimits);
    return (await Promise.all(batches.map((batch) => sendBatch(client, queueUrl, batch)))).flat();
  };
}

/** Sends each message with a request of its own: of one message that is less to write, to check and to read than a batch. */
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

/** Messages of one request by the id that each has in it. */
type Batch = ReadonlyMap<string, Outgoing>;

/** Why a message was not taken; `isTransient` where the fault is SQS's own, and of this message alone. */
type Refusal = { readonly failure: Failure; readonly isTransient: boolean };

/** The SDK sends a request that fails again. What SQS fails to take of one, by its own fault, is sent again here, once. */
async function sendBatch(
  client: SQSClient,
  queueUrl: string,
  messages: readonly Outgoing[],
): Promise<readonly (Failure | undefined)[]> {
  const batch: Batch = new Map(messages.map((message, index) => [String(index), message]));
  const refused = await requestBatch(client, queueUrl, batch);
  const transient = new Map([...batch].filter(([id]) => refused.get(id)?.isTransient));
  const again = transient.size === 0 ? undefined : await requestBatch(client, queueUrl, transient);
  const refusalOf = (id: string) => (again !== undefined && transient.has(id) ? again : refused).get(id);
  return [...batch.keys()].map((id) => refusalOf(id)?.failure);
}

async function requestBatch(
  client: SQSClient,
  queueUrl: string,
  batch: Batch,
): Promise<ReadonlyMap<string, Refusal>> {
  const Entries = [...batch].map(([Id, message]) => ({ Id, ...contentOf(message) }));
  try {
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    return new Map(Failed.map(({ Id = "", ...entry }) => [Id, refusalOfEntry(entry)]));
  } catch (error) {
    const refusal = { failure: failureOf(error), isTransient: false };
    return new Map([...batch.keys()].map((id) => [id, refusal]));
  }
}

function refusalOfEntry({ Code = "unknown", SenderFault }: Omit<BatchResultErrorEntry, "Id">): Refusal {
  const failure: Failure = { type: "retryable", reason: `SQS: ${Code}`, delayInSeconds: 0 };
  return { failure, isTransient: SenderFault === false };
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
const longestReason = 256;

function attributesOf({ body, reason, returns }: Outgoing) {
  // Most messages have none, and nobody need count the bytes of their bodies.
  if (reason === undefined && returns === undefined) return {};
  let room = maxBytes - Buffer.byteLength(body);
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
