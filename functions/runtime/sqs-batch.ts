import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Send } from "../../adapters/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/failures.ts";
import type { Log } from "./log.ts";

/** Settles a message that failed: true where it is safe elsewhere, false where SQS shall deliver it again. */
export type Settle = (record: SQSRecord, failure: Failure) => Promise<boolean>;

/**
 * Handles the messages of a batch side by side, each for itself: what fails is told to SQS, which delivers it
 * again, and the rest of the batch is not.
 */
export function sqsBatch(
  handle: (record: SQSRecord) => Promise<void>,
  settle: Settle,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const isDone = async (record: SQSRecord): Promise<boolean> => {
    try {
      await handle(record);
      return true;
    } catch (error) {
      return settle(record, failureOf(error));
    }
  };
  return async ({ Records }) => {
    const done = await Promise.all(Records.map(isDone));
    const failed = Records.filter((_, index) => done[index] !== true);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

/** Permanent failures go to the dead-letter queue with their reason; all else SQS delivers again. */
export function deadLetterPermanent(send: Send, deadLetterQueueUrl: string, log: Log): Settle {
  return async ({ messageId, body }, failure) => {
    const { reason } = failure;
    if (failure.kind === "retryable") {
      log("MESSAGE_FAILED", { messageId, reason });
      return false;
    }
    const [failed] = await send(deadLetterQueueUrl, [{ body, reason }]);
    log("MESSAGE_REJECTED", { messageId, reason });
    return failed === undefined;
  };
}
