import { ChangeMessageVisibilityBatchCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { type Failure, failureOf } from "../../domain/core/failures.ts";

/** A received message, and how many seconds from now it stays invisible. */
export type VisibilityChange = { readonly receiptHandle: string; readonly seconds: number };

/**
 * Changes the visibility of received messages. SQS delivers each again after its time, counted from now.
 * @returns a function for at most ten messages, the size of a batch. It returns one entry for each message, in order:
 * undefined if it succeeded, else the failure.
 */
export function messageVisibility(client: SQSClient) {
  return async (
    queueUrl: string,
    messages: readonly VisibilityChange[],
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
