import { ChangeMessageVisibilityBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type Failure, failureOf } from "../../domain/core/failures.ts";

/** A received message, and how many seconds from now it stays invisible. */
export type Hidden = { readonly receiptHandle: string; readonly seconds: number };

/**
 * Changes the visibility of received messages. SQS delivers each again after its time, counted from now.
 * @returns one entry per message, in order: undefined if it succeeded, else what went wrong
 */
export type Hide = (
  queueUrl: string,
  messages: readonly Hidden[],
) => Promise<readonly (Failure | undefined)[]>;

/** @returns a `Hide` for at most ten messages, the size of a batch */
export function messageVisibility(client: SQSClient): Hide {
  return async (queueUrl, messages) => {
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
