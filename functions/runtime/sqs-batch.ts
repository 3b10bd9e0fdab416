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
  const reject = deadLetter(send, deadLetterQueueUrl, log);
  return async (record, failure) => {
    if (failure.kind === "permanent") return reject(record, failure.reason);
    log("MESSAGE_FAILED", { messageId: record.messageId, reason: failure.reason });
    return false;
  };
}

/** Puts a message into the dead-letter queue with a reason; false, and so kept, while that can't be written to. */
export function deadLetter(
  send: Send,
  deadLetterQueueUrl: string,
  log: Log,
): (record: SQSRecord, reason: string) => Promise<boolean> {
  return async ({ messageId, body }, reason) => {
    const [failed] = await send(deadLetterQueueUrl, [{ body, reason }]);
    if (failed === undefined) log("MESSAGE_REJECTED", { messageId, reason });
    else log("MESSAGE_FAILED", { messageId, reason: failed.reason });
    return failed === undefined;
  };
}
