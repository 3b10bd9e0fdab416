import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { Outgoing, Send } from "../../adapters/sqs/sqs-sender.ts";
import { type Failure, failureOf } from "../../domain/core/failures.ts";
import { present } from "../../domain/core/parse.ts";
import { correlationIdIn } from "../../domain/event/correlation.ts";
import type { Log } from "./log.ts";
import { sanitizeErrors } from "./sanitize-errors.ts";

/** A message whose handling failed. */
export type Failed = { readonly record: SQSRecord; readonly failure: Failure };

/**
 * Handles the messages of a batch that failed: for each, in order, true where it is safe elsewhere, false where
 * SQS shall deliver it again.
 */
export type HandleFailures = (failed: readonly Failed[]) => Promise<readonly boolean[]>;

/** Handles the messages of a batch side by side, each for itself. */
export function handleEachRecord(
  handle: (record: SQSRecord) => Promise<void>,
  handleFailures: HandleFailures,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const attempt = async (record: SQSRecord): Promise<Failure | undefined> => {
    try {
      await handle(record);
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  };
  return handleBatch((records) => Promise.all(records.map(attempt)), handleFailures);
}

/**
 * Handles the messages of a batch together: what fails is reported to SQS, which delivers it again, and the rest of the
 * batch is not.
 * @param handle gives for each message, in order, what went wrong with it, if anything
 */
export function handleBatch(
  handle: (records: readonly SQSRecord[]) => Promise<readonly (Failure | undefined)[]>,
  handleFailures: HandleFailures,
): (event: SQSEvent) => Promise<SQSBatchResponse> {
  return sanitizeErrors(async ({ Records }) => {
    const failures = await handle(Records);
    const failed = Records.flatMap((record, index): Failed[] => {
      const failure = failures[index];
      return failure === undefined ? [] : [{ record, failure }];
    });
    const isSafe = failed.length === 0 ? [] : await handleFailures(failed);
    const left = failed.filter((_, index) => isSafe[index] !== true);
    return { batchItemFailures: left.map(({ record }) => ({ itemIdentifier: record.messageId })) };
  });
}

/** Permanent failures go to the dead-letter queue with their reason; all else SQS delivers again. */
export function rejectPermanent(send: Send, deadLetterQueueUrl: string, log: Log): HandleFailures {
  const reject = rejectTo(send, deadLetterQueueUrl, log);
  return (failed) =>
    Promise.all(
      failed.map(async ({ record, failure }) => {
        if (failure.type === "permanent")
          return reject({ ...record, ...redriveCountOf(record) }, failure.reason);
        const { messageId, body } = record;
        log("MESSAGE_FAILED", { messageId, correlationId: correlationIdIn(body), reason: failure.reason });
        return false;
      }),
    );
}

type RejectedMessage = Pick<SQSRecord, "messageId" | "body"> &
  Pick<Outgoing, "returns" | "group" | "deduplication">;

/** How often a message was redriven, for what is sent in its place. */
export function redriveCountOf({
  messageAttributes,
}: Pick<SQSRecord, "messageAttributes">): Pick<RejectedMessage, "returns"> {
  return present({ returns: messageAttributes.returns?.stringValue });
}

/** Puts a message into the dead-letter queue with a reason; false, and so kept, while that can't be written to. */
export function rejectTo(
  send: Send,
  deadLetterQueueUrl: string,
  log: Log,
): (message: RejectedMessage, reason: string) => Promise<boolean> {
  const rejectAll = rejectAllTo(send, deadLetterQueueUrl, log);
  return async (message, reason) => (await rejectAll([{ ...message, reason }]))[0] === true;
}

/** The same of several messages, each with its reason. */
export function rejectAllTo(
  send: Send,
  deadLetterQueueUrl: string,
  log: Log,
): (messages: readonly (RejectedMessage & { readonly reason: string })[]) => Promise<readonly boolean[]> {
  return async (messages) => {
    const sent = await send(
      deadLetterQueueUrl,
      messages.map(({ body, reason, returns, group, deduplication }) => ({
        ...{ body, reason },
        ...present({ returns, group, deduplication }),
      })),
    );
    return messages.map(({ messageId, body, reason }, index) => {
      const failed = sent[index];
      const correlationId = correlationIdIn(body);
      if (failed === undefined) log("MESSAGE_REJECTED", { messageId, correlationId, reason });
      else log("MESSAGE_FAILED", { messageId, correlationId, reason: failed.reason });
      return failed === undefined;
    });
  };
}
